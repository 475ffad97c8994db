//! The bar at the top: files, what results are computed with, the verdict, going from one difference to the next.

use egui::{RichText, Ui};
use replayer::{path::Path, rules::Profile};

use super::theme;
use crate::model::{
    choice::{Choice, ExecutorChoice, ProfileChoice},
    compute::Compute,
    navigate::{Layout, Order, Step},
    number::grouped,
    outcome::Verdict,
    session::Session,
    settings::Settings,
};

/// State of the bar.
#[derive(Default)]
pub struct TopBar {
    /// Text of the field that goes to a sample.
    pub goto: String,
    /// Whether that field is to get the keyboard.
    pub focus_goto: bool,
    /// Whether times are left out, so that pictures of the window are the same every time.
    pub hide_times: bool,
    /// Devices that were found, or why none were looked for.
    pub devices: Option<Result<Vec<String>, String>>,
}

/// What the user asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TopRequest {
    /// The dialog for files.
    OpenFiles,
    /// The dialog for a folder.
    OpenFolder,
    /// The window with a path to type.
    OpenPath,
    /// A recent file, by its place.
    OpenRecent(usize),
    /// Everything is closed.
    CloseAll,
    /// The export window.
    Export,
    /// The arrangement of the first start.
    ResetLayout,
    /// The list of keys.
    Keys,
    /// A text that opens exactly this view.
    CopyLink,
    /// A sample was gone to.
    Reveal,
    /// The user goes to what is typed.
    Goto,
}

/// Draws the bar.
pub fn top_bar_ui(ui: &mut Ui, session: &mut Session, settings: &mut Settings, bar: &mut TopBar) -> Option<TopRequest> {
    let mut request = None;
    ui.horizontal_wrapped(|ui| {
        menus_ui(ui, session, settings, &mut request);
        ui.separator();
        choice_ui(ui, session, bar);
        ui.separator();
        steps_ui(ui, session, settings, bar, &mut request);
    });
    request
}

fn menus_ui(ui: &mut Ui, session: &Session, settings: &mut Settings, request: &mut Option<TopRequest>) {
    let mut item = |ui: &mut Ui, enabled: bool, text: &str, what: TopRequest| {
        if ui.add_enabled(enabled, egui::Button::new(text)).clicked() {
            *request = Some(what);
            ui.close();
        }
    };
    ui.menu_button("File", |ui| {
        item(ui, true, "Open files…  (Ctrl+O)", TopRequest::OpenFiles);
        item(ui, true, "Open folder…", TopRequest::OpenFolder);
        item(ui, true, "Open path…", TopRequest::OpenPath);
        ui.menu_button("Recent", |ui| {
            if settings.recent.is_empty() {
                ui.weak("none yet");
            }
            for (n, path) in settings.recent.iter().enumerate() {
                item(ui, true, &path.display().to_string(), TopRequest::OpenRecent(n));
            }
        });
        ui.separator();
        item(ui, session.shown().is_some(), "Export…  (Ctrl+E)", TopRequest::Export);
        item(ui, session.shown().is_some(), "Copy a link to this view", TopRequest::CopyLink);
        ui.separator();
        item(ui, !session.traces().is_empty(), "Close all", TopRequest::CloseAll);
    });
    ui.menu_button("View", |ui| {
        item(ui, true, "Reset the layout", TopRequest::ResetLayout);
        item(ui, true, "Keys  (?)", TopRequest::Keys);
        ui.separator();
        ui.checkbox(&mut settings.legend, "Legends in images");
        ui.separator();
        egui::widgets::global_theme_preference_buttons(ui);
    });
}

fn choice_ui(ui: &mut Ui, session: &mut Session, bar: &mut TopBar) {
    let mut choice = session.choice().clone();
    if session.is_compute() {
        ui.label(format!("path {}", Path::Recorded))
            .on_hover_text("A compute dispatch is run by its own SPIR-V, which follows no profile");
        executor_ui(ui, &mut choice, bar);
        session.choose(choice);
        return again_ui(ui, session);
    }
    egui::ComboBox::from_id_salt("path")
        .selected_text(format!("path {}", choice.path))
        .width(124.0)
        .show_ui(ui, |ui| {
            // Sample dispatches have no SPIR-V of their own.
            for path in Path::ALL.into_iter().filter(|path| *path != Path::Recorded) {
                ui.selectable_value(&mut choice.path, path, path.name());
            }
        })
        .response
        .accessible_name("Path")
        .on_hover_text("What computes the result");
    let shown = match &choice.profile {
        ProfileChoice::OfOracle => match session.profile() {
            Ok(profile) => format!("profile {} (oracle's)", profile.name),
            Err(_) => "profile of the oracle".to_owned(),
        },
        ProfileChoice::Named(name) => format!("profile {name}"),
    };
    egui::ComboBox::from_id_salt("profile")
        .selected_text(shown)
        .width(150.0)
        .show_ui(ui, |ui| {
            ui.selectable_value(&mut choice.profile, ProfileChoice::OfOracle, "the oracle's own");
            for profile in Profile::ALL {
                let named = ProfileChoice::Named(profile.name.to_owned());
                ui.selectable_value(&mut choice.profile, named, profile.name);
            }
        })
        .response
        .accessible_name("Profile")
        .on_hover_text("Whose rules the result follows");
    if choice.path.needs_executor() {
        executor_ui(ui, &mut choice, bar);
    }
    ui.checkbox(&mut choice.strict, "strict").on_hover_text("Refuses rules that rest on inference alone");
    session.choose(choice);
    again_ui(ui, session);
}

fn again_ui(ui: &mut Ui, session: &mut Session) {
    if ui.button("Run again").on_hover_text("Evaluates the dispatch anew; devices are opened anew (F5)").clicked() {
        session.run_again();
    }
}

fn executor_ui(ui: &mut Ui, choice: &mut Choice, bar: &mut TopBar) {
    egui::ComboBox::from_id_salt("executor")
        .selected_text(format!("on {}", choice.executor))
        .width(110.0)
        .show_ui(ui, |ui| {
            // Looking for devices loads the drivers, so it is done when the list is opened, and once.
            let devices = bar.devices.get_or_insert_with(|| {
                replayer::execute::vulkan::VulkanExecutor::devices()
                    .map(|devices| devices.into_iter().map(|device| device.name).collect())
                    .map_err(|error| error.to_string())
            });
            ui.selectable_value(&mut choice.executor, ExecutorChoice::Auto, "auto: Vulkan, else embedded");
            ui.selectable_value(
                &mut choice.executor,
                ExecutorChoice::Embedded,
                "embedded: on the CPU, without a driver",
            );
            match devices {
                Ok(names) => {
                    for name in names.iter() {
                        ui.selectable_value(&mut choice.executor, ExecutorChoice::Vulkan(name.clone()), name);
                    }
                }
                Err(reason) => {
                    ui.label(reason.as_str());
                }
            }
        })
        .response
        .accessible_name("Executor")
        .on_hover_text("What runs the SPIR-V");
}

fn steps_ui(
    ui: &mut Ui,
    session: &mut Session,
    settings: &mut Settings,
    bar: &mut TopBar,
    request: &mut Option<TopRequest>,
) {
    let differs = session.outcome().is_some_and(|(outcome, _)| outcome.summary.mismatched > 0);
    for (text, step, hint) in [
        ("Previous mismatch", Step::Previous, "The differing sample before (P)"),
        ("Next mismatch", Step::Next, "The next differing sample (N)"),
    ] {
        if ui.add_enabled(differs, egui::Button::new(text)).on_hover_text(hint).clicked()
            && session.step(settings.order, step)
        {
            *request = Some(TopRequest::Reveal);
        }
    }
    egui::ComboBox::from_id_salt("order")
        .selected_text(settings.order.name())
        .width(104.0)
        .show_ui(ui, |ui| {
            for order in Order::ALL {
                ui.selectable_value(&mut settings.order, order, order.name());
            }
        })
        .response
        .accessible_name("Order of mismatches");
    let edit = ui
        .add(egui::TextEdit::singleline(&mut bar.goto).hint_text("go to x,y,z").desired_width(90.0))
        .accessible_name("Go to sample")
        .on_hover_text("x,y,z in this dispatch, or DISPATCH:x,y,z (Ctrl+G)");
    if std::mem::take(&mut bar.focus_goto) {
        edit.request_focus();
    }
    if edit.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter)) {
        *request = Some(TopRequest::Goto);
    }
}

/// Draws the line with the verdict, and what runs.
pub fn status_ui(ui: &mut Ui, session: &mut Session, hide_times: bool) {
    let Some(name) = session.selected_name().map(str::to_owned) else { return };
    let trace = session.selected_source().map(|source| (source.name().to_owned(), source.oracle().clone()));
    ui.horizontal_wrapped(|ui| {
        if let Some((trace, _)) = &trace {
            ui.label(RichText::new(format!("{trace} / {name}")).strong());
        }
        if let Some(shown) = session.shown() {
            let [x, y, z] = shown.dispatch.grid;
            let layout = Layout::of(shown.dispatch.grid);
            let folded = if layout.is_folded() {
                format!(", shown as {} x {}", layout.size()[0], layout.size()[1])
            } else {
                String::new()
            };
            let compute = shown.compute.clone();
            match &compute {
                None => drop(ui.weak(format!("{}  {x} x {y} x {z}{folded}", shown.dispatch.op))),
                Some(compute) => {
                    output_ui(ui, session, compute);
                    ui.weak(format!("{x} x {y} x {z}{folded}"));
                }
            }
        }
        let outcome = session.outcome().map(|(outcome, _)| outcome.clone());
        match (session.progress(), &outcome) {
            (Some((done, all)), None) => {
                ui.spinner();
                let text = if all == 0 {
                    "reading…".to_owned()
                } else {
                    format!("{} of {} samples", grouped(done), grouped(all))
                };
                ui.label(text);
                if ui.button("Cancel").on_hover_text("Gives the evaluation up (Esc)").clicked() {
                    session.cancel();
                }
            }
            (_, Some(outcome)) => {
                let summary = &outcome.summary;
                ui.colored_label(
                    theme::verdict(Some(summary.verdict), ui.visuals()),
                    RichText::new(summary.verdict.name()).strong(),
                );
                if summary.reason.is_none() {
                    ui.label(summary.text());
                    let device = outcome.executor.as_ref().map_or(String::new(), |info| format!(" on {}", info.device));
                    if !hide_times {
                        ui.weak(format!("{:.1} ms{device}", outcome.elapsed.as_secs_f64() * 1e3));
                    }
                }
            }
            (None, None) => {
                if session.unreadable().is_none() {
                    ui.weak("not evaluated");
                    if ui.button("Evaluate").clicked() {
                        session.run_again();
                    }
                }
            }
        }
        if session.is_exporting() {
            ui.separator();
            ui.spinner();
            ui.label("writing a file…");
            if ui.button("Give up writing").on_hover_text("Leaves no file behind").clicked() {
                session.cancel_export();
            }
        }
        if let Some((_, oracle)) = &trace {
            ui.weak(format!("oracle: {}, {}", oracle.device, oracle.source)).on_hover_text(if oracle.note.is_empty() {
                "no note"
            } else {
                &oracle.note
            });
        }
    });
    advice_ui(ui, session);
}

/// Which output of a compute dispatch is shown.
fn output_ui(ui: &mut Ui, session: &mut Session, compute: &Compute) {
    let title = |n: usize| {
        let name = compute.outputs.get(n).map_or("no output", |output| output.samples.name.as_str());
        let verdict = session.outcomes().get(n).map(|outcome| &outcome.summary);
        match verdict.filter(|summary| summary.reason.is_none() && compute.outputs.len() > 1) {
            Some(summary) => format!("{name}: {}", summary.verdict),
            None => name.to_owned(),
        }
    };
    let mut output = session.output();
    egui::ComboBox::from_id_salt("output")
        .selected_text(title(output))
        .width(240.0)
        .show_ui(ui, |ui| {
            for n in 0..compute.outputs.len() {
                ui.selectable_value(&mut output, n, title(n));
            }
        })
        .response
        .accessible_name("Output")
        .on_hover_text("What the dispatch wrote, as it is compared and shown");
    if output != session.output() {
        session.choose_output(output);
    }
}

/// Why there is no verdict by comparison, and what to do about it.
fn advice_ui(ui: &mut Ui, session: &mut Session) {
    let unreadable = session.unreadable().map(str::to_owned);
    let summary = session.outcome().map(|(outcome, _)| outcome.summary.clone());
    let failed = summary.as_ref().is_some_and(|summary| matches!(summary.verdict, Verdict::Failed | Verdict::Timeout));
    let (reason, advice) = match (unreadable, summary) {
        (Some(reason), _) => (reason, Some("The other dispatches of the trace can still be read.")),
        (None, Some(summary)) => match summary.reason {
            Some(reason) => (format!("{}: {reason}", summary.verdict), summary.advice),
            None => return,
        },
        (None, None) => return,
    };
    egui::Frame::group(ui.style()).fill(ui.visuals().faint_bg_color).show(ui, |ui| {
        ui.horizontal_wrapped(|ui| {
            ui.label(RichText::new(reason).strong());
            if let Some(advice) = advice {
                ui.label(advice);
            }
            if session.is_compute() {
                let embedded = Choice { executor: ExecutorChoice::Embedded, ..session.choice().clone() };
                let offered = failed && embedded != *session.choice();
                if offered && ui.button("Use the embedded executor").clicked() {
                    session.choose(embedded);
                }
            } else if session.choice().path.needs_executor() && ui.button("Use the reference path").clicked() {
                session.choose_path(Path::Reference);
            }
        });
    });
}
