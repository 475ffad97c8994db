//! The way of the selected sample or invocation through the shader, forward and back.

use std::sync::Arc;

use egui::{Grid, Key, RichText, ScrollArea, Ui};
use replayer::{
    emulated::section::Section,
    execute::embedded::{Operand, Value},
    step::{SampleStep, StepFilter, operands_text, result_text},
};

use crate::model::{
    number::word,
    session::Session,
    step::{StepKey, Stepper, Steps, Walk, origin, passing},
    worker::Wake,
};

/// State of the panel.
pub struct StepPanel {
    stepper: Stepper,
    /// Number of the step that is looked at, among all.
    current: usize,
    /// Only opcodes or names that hold this.
    filter: String,
    section: Option<Section>,
    /// The invocation of a compute dispatch that is followed instead of the one with the sample's place: of which sample.
    invocation: Option<(u64, usize, [u32; 3])>,
    /// Whether the list is to show the step that is looked at.
    reveal: bool,
    /// The steps that pass, for what they were made of.
    passing: Option<Passing>,
}

/// Steps that pass a filter, with what they were made of: the run, the text and the section asked for.
type Passing = (StepKey, String, Option<Section>, Arc<[usize]>);

/// Where to go.
#[derive(Clone, Copy)]
enum Go {
    First,
    Back,
    Forward,
    Last,
    To(usize),
}

impl StepPanel {
    /// Starts the thread behind the panel.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn new(wake: &Wake) -> std::io::Result<Self> {
        Ok(Self {
            stepper: Stepper::start(wake.clone())?,
            current: 0,
            filter: String::new(),
            section: None,
            invocation: None,
            reveal: false,
            passing: None,
        })
    }

    /// Whether no steps are being computed.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.stepper.is_idle()
    }

    /// The steps of what is selected, once they are there; see [`Stepper::steps`].
    pub fn steps(&self, session: &Session) -> Option<Option<(StepKey, Steps)>> {
        let selected = session.shown().map(|shown| shown.serial).zip(session.sample());
        let invocation = self.invocation.filter(|(serial, sample, _)| Some((*serial, *sample)) == selected);
        self.stepper.steps(session, invocation.map(|(.., at)| at))
    }

    /// Number of the step that is looked at.
    #[must_use]
    pub fn current(&self) -> usize {
        self.current
    }

    fn go(&mut self, go: Go, shown: &[usize]) {
        let (Some(&first), Some(&last)) = (shown.first(), shown.last()) else { return };
        self.current = match go {
            Go::First => first,
            Go::Last => last,
            Go::Forward => shown.iter().copied().find(|&n| n > self.current).unwrap_or(last),
            Go::Back => shown.iter().rev().copied().find(|&n| n < self.current).unwrap_or(first),
            Go::To(n) => n,
        };
        self.reveal = true;
    }

    fn shown(&mut self, key: &StepKey, trace: &Walk) -> Arc<[usize]> {
        let filter = self.filter.trim();
        if let Some((of, text, section, list)) = &self.passing
            && (of, text.as_str(), *section) == (key, filter, self.section)
        {
            return list.clone();
        }
        let sections: Vec<Section> = self.section.into_iter().collect();
        let by = |opcode: Option<&str>, name: Option<&str>| StepFilter {
            sections: sections.clone(),
            opcode: opcode.map(str::to_owned),
            name: name.map(str::to_owned),
            ..StepFilter::default()
        };
        let list: Arc<[usize]> = if filter.is_empty() {
            passing(&trace.steps, &by(None, None)).into()
        } else {
            let mut list = passing(&trace.steps, &by(Some(filter), None));
            list.extend(passing(&trace.steps, &by(None, Some(filter))));
            list.sort_unstable();
            list.dedup();
            list.into()
        };
        self.passing = Some((key.clone(), filter.to_owned(), self.section, list.clone()));
        list
    }
}

fn mono(text: impl Into<String>) -> RichText {
    RichText::new(text).monospace()
}

/// Draws the panel.
pub fn steps_ui(ui: &mut Ui, session: &Session, panel: &mut StepPanel) {
    let (key, steps) = match panel.steps(session) {
        None if session.is_compute() => {
            ui.weak("Click a sample in an image to step through an invocation of the shader.");
            return;
        }
        None => {
            ui.weak("Click a sample in an image to step through the shader that computes it.");
            return;
        }
        Some(None) => {
            ui.horizontal(|ui| {
                ui.spinner();
                ui.weak("executing…");
            });
            return;
        }
        Some(Some(found)) => found,
    };
    if let Some(at) = key.invocation {
        invocation_ui(ui, panel, &key, at);
    }
    let trace = match steps {
        Ok(trace) => trace,
        Err(reason) => {
            ui.weak(format!("No steps: {reason}"));
            return;
        }
    };
    let shown = panel.shown(&key, &trace);
    panel.current = panel.current.min(trace.steps.len().saturating_sub(1));
    let mut go = controls_ui(ui, panel, &trace, &shown);
    if !ui.ctx().text_edit_focused() {
        let pressed = |key| ui.input(|input| input.key_pressed(key) && input.modifiers.is_none());
        go = go.or(pressed(Key::Period).then_some(Go::Forward)).or(pressed(Key::Comma).then_some(Go::Back));
    }
    if let Some(step) = trace.steps.get(panel.current) {
        go = go.or(step_ui(ui, &trace, step));
    }
    ui.separator();
    go = go.or(list_ui(ui, panel, &trace, &shown));
    if let Some(go) = go {
        panel.go(go, &shown);
        ui.ctx().request_repaint();
    }
}

/// Which invocation of a compute dispatch is followed.
fn invocation_ui(ui: &mut Ui, panel: &mut StepPanel, key: &StepKey, mut at: [u32; 3]) {
    ui.horizontal_wrapped(|ui| {
        ui.label("invocation").on_hover_text(
            "GlobalInvocationId. Which invocation computes a sample is not recorded: it starts as the one that has the sample's place for its number.",
        );
        let mut changed = false;
        for (axis, value) in ["x", "y", "z"].into_iter().zip(&mut at) {
            changed |= ui.add(egui::DragValue::new(value)).accessible_name(format!("Invocation {axis}")).changed();
        }
        if changed {
            panel.invocation = Some((key.shown, key.sample, at));
        }
    });
}

fn controls_ui(ui: &mut Ui, panel: &mut StepPanel, trace: &Walk, shown: &[usize]) -> Option<Go> {
    let mut go = None;
    ui.horizontal_wrapped(|ui| {
        for (text, label, to) in [
            ("|<", "First step", Go::First),
            ("Back", "Step back", Go::Back),
            ("Forward", "Step forward", Go::Forward),
            (">|", "Last step", Go::Last),
        ] {
            if ui.button(text).on_hover_text(label).accessible_name(label).clicked() {
                go = Some(to);
            }
        }
        let last = trace.steps.len().saturating_sub(1);
        let mut current = panel.current;
        if ui.add(egui::DragValue::new(&mut current).range(0..=last)).accessible_name("Step number").changed() {
            go = Some(Go::To(current));
        }
        ui.weak(format!("of {last}, {}", trace.title));
    });
    ui.horizontal_wrapped(|ui| {
        // A recorded module has no sections.
        if trace.rules.is_some() {
            sections_ui(ui, panel, trace);
        } else {
            panel.section = None;
        }
        let edit = egui::TextEdit::singleline(&mut panel.filter).hint_text("opcode, name or %id").desired_width(130.0);
        ui.add(edit).accessible_name("Filter steps");
        if shown.len() < trace.steps.len() {
            ui.weak(format!("{} of {} steps", shown.len(), trace.steps.len()));
        }
        if let Some(words) = trace.words {
            let [x, y, z, w] = words.map(word);
            ui.label(mono(format!("X {x} Y {y} Z {z} W {w}"))).on_hover_text("What the sample returns");
        }
    });
    go
}

/// The section that is looked at.
fn sections_ui(ui: &mut Ui, panel: &mut StepPanel, trace: &Walk) {
    let text = panel.section.map_or("all sections", Section::name);
    egui::ComboBox::from_id_salt("section")
        .height(600.0)
        .selected_text(text)
        .show_ui(ui, |ui| {
            ui.selectable_value(&mut panel.section, None, "all sections");
            let mut present: Vec<Section> = trace.steps.iter().filter_map(|s| s.section).collect();
            present.sort_unstable();
            present.dedup();
            for section in present {
                ui.selectable_value(&mut panel.section, Some(section), section.name());
            }
        })
        .response
        .accessible_name("Section of steps");
}

/// The step that is looked at: its operands with where they come from, and its result.
fn step_ui(ui: &mut Ui, trace: &Walk, s: &SampleStep) -> Option<Go> {
    let mut go = None;
    let step = &s.step;
    ui.horizontal_wrapped(|ui| {
        ui.strong(mono(format!("Step {}: {}", s.index, step.opcode)));
        match s.section {
            Some(Section::Rule(rule)) => {
                let hover = rule.doc().join(" ");
                let value = trace.rules.map_or("", |rules| rules.value_name(rule));
                ui.label(format!("rule {} = {value}", rule.name())).on_hover_text(hover.trim());
            }
            Some(Section::Stage(stage)) => {
                ui.label(stage.name()).on_hover_text(stage.doc());
            }
            None => {}
        }
        ui.weak(format!("word {} of the module", step.word));
    });
    let grid = |ui: &mut Ui| {
        Grid::new("operands of the step").num_columns(3).striped(true).spacing([12.0, 2.0]).show(ui, |ui| {
            for o in &step.operands {
                go = go.or(operand_ui(ui, trace, s.index, o));
                ui.end_row();
            }
            if let Some(value) = &step.value {
                ui.label(mono(result_text(step)).strong());
                ui.strong("result");
                ui.label(mono(value.to_string()).strong());
                ui.end_row();
            }
        });
    };
    // As high whatever the step, so that the list below stays where it is.
    let height = 7.0 * (ui.text_style_height(&egui::TextStyle::Monospace) + 4.0);
    ScrollArea::both().id_salt("step").max_height(height).min_scrolled_height(height).auto_shrink(false).show(ui, grid);
    go
}

fn operand_ui(ui: &mut Ui, trace: &Walk, at: usize, o: &Operand) -> Option<Go> {
    let name = match (o.id, &o.name) {
        (Some(id), Some(name)) => format!("%{id} {name}"),
        (Some(id), None) => format!("%{id}"),
        _ => String::new(),
    };
    ui.label(mono(name));
    let from = o.id.and_then(|id| origin(&trace.steps, at, id));
    let mut go = None;
    match from {
        Some(from) => {
            let link = ui.link(format!("step {from}")).on_hover_text("Goes to where the value was computed");
            if link.clicked() {
                go = Some(Go::To(from));
            }
        }
        None => {
            ui.weak(match o.value {
                Value::Literal(_) => "literal",
                Value::Name(_) | Value::Pointer { .. } => "",
                _ => "constant",
            });
        }
    }
    ui.label(mono(o.value.to_string()));
    go
}

fn list_ui(ui: &mut Ui, panel: &mut StepPanel, trace: &Walk, shown: &[usize]) -> Option<Go> {
    let mut go = None;
    let height = ui.text_style_height(&egui::TextStyle::Monospace);
    let row = height + ui.spacing().item_spacing.y;
    let mut area = ScrollArea::both().id_salt("steps").auto_shrink(false);
    if std::mem::take(&mut panel.reveal) {
        let place = shown.partition_point(|&n| n < panel.current);
        area = area.vertical_scroll_offset((place as f32 * row - ui.available_height() / 2.0).max(0.0));
    }
    area.show_rows(ui, height, shown.len(), |ui, range| {
        // Rows are as high as the area counts with, so that the last ones can be scrolled to.
        (ui.spacing_mut().button_padding.y, ui.spacing_mut().interact_size.y) = (0.0, height);
        let name = |n: usize| trace.steps[n].section.map_or("", Section::name);
        let wide = shown[range.clone()].iter().map(|&n| name(n).len()).max().unwrap_or(0);
        for &n in &shown[range] {
            let s = &trace.steps[n];
            let name = name(n);
            let result = result_text(&s.step);
            let result = if result.is_empty() { String::new() } else { format!("{result} = ") };
            let opcode = s.step.opcode.trim_start_matches("OpExtInst ").trim_start_matches("Op");
            let value = s.step.value.as_ref().map_or(String::new(), |v| format!(" -> {v}"));
            let line = format!("{n:>4} {name:wide$} {result}{opcode} {}{value}", operands_text(&s.step).join(", "));
            let line = mono(line).size(11.5);
            let label = egui::Button::selectable(n == panel.current, line).wrap_mode(egui::TextWrapMode::Extend);
            if ui.add(label).clicked() {
                go = Some(Go::To(n));
            }
        }
    });
    go
}
