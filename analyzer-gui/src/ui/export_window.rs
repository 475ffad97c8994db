//! The window that writes files.

use std::path::{Path, PathBuf};

use egui::Ui;

use super::{
    dialogs::Ask,
    view_state::{ViewKind, ViewState},
};
use crate::model::{
    export::{self, ExportError},
    raster::Plane,
    session::Session,
    settings::Settings,
};

/// What is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum What {
    /// A picture of a view.
    #[default]
    Png,
    /// Values of the result.
    ExrResult,
    /// Values of the oracle.
    ExrOracle,
    /// The differing samples.
    Csv,
    /// The dispatch as it is now.
    Case,
    /// The selected sample.
    SampleCase,
}

impl What {
    const ALL: [Self; 6] = [Self::Png, Self::ExrResult, Self::ExrOracle, Self::Csv, Self::Case, Self::SampleCase];

    fn name(self) -> &'static str {
        match self {
            Self::Png => "picture of a view (PNG)",
            Self::ExrResult => "values of the result (EXR)",
            Self::ExrOracle => "values of the oracle (EXR)",
            Self::Csv => "differing samples (CSV)",
            Self::Case => "dispatch as a case (folder)",
            Self::SampleCase => "selected sample as a case (folder)",
        }
    }

    fn ask(self) -> Ask {
        match self {
            Self::Png => Ask::SaveFile("png"),
            Self::ExrResult | Self::ExrOracle => Ask::SaveFile("exr"),
            Self::Csv => Ask::SaveFile("csv"),
            Self::Case | Self::SampleCase => Ask::SaveFolder,
        }
    }
}

/// State of the window.
#[derive(Default)]
pub struct ExportWindow {
    /// Whether it is shown.
    pub open: bool,
    /// What is written.
    pub what: What,
    /// Where to, as text.
    pub path: String,
    view: usize,
}

const VIEWS: [(ViewKind, &str); 4] = [
    (ViewKind::Heatmap, "heatmap"),
    (ViewKind::Difference, "difference"),
    (ViewKind::Result, "result"),
    (ViewKind::Oracle, "oracle"),
];

impl ExportWindow {
    /// Shows the window for something.
    pub fn show_for(&mut self, what: What) {
        (self.open, self.what) = (true, what);
    }
}

/// Draws the window's content. Returns a dialog to be opened.
pub fn export_ui(
    ui: &mut Ui,
    window: &mut ExportWindow,
    session: &mut Session,
    view: &ViewState,
    settings: &Settings,
) -> Option<Ask> {
    let mut ask = None;
    egui::ComboBox::from_id_salt("what")
        .selected_text(window.what.name())
        .width(260.0)
        .show_ui(ui, |ui| {
            for what in What::ALL {
                ui.selectable_value(&mut window.what, what, what.name());
            }
        })
        .response
        .accessible_name("What to export");
    if window.what == What::Png {
        ui.horizontal(|ui| {
            for (n, (_, name)) in VIEWS.iter().enumerate() {
                ui.radio_value(&mut window.view, n, *name);
            }
        });
        ui.weak("One pixel a sample, with the range and channels that are set.");
    }
    if window.what == What::Case && !session.edits().is_empty() {
        ui.weak("Fields were changed, so the case has no results of the hardware.");
    }
    ui.horizontal(|ui| {
        ui.add(egui::TextEdit::singleline(&mut window.path).hint_text("path").desired_width(300.0))
            .accessible_name("Export path");
        if ui.button("Browse…").clicked() {
            ask = Some(window.what.ask());
        }
    });
    let path = PathBuf::from(window.path.trim());
    let ready = !path.as_os_str().is_empty() && session.shown().is_some();
    if ui.add_enabled(ready, egui::Button::new("Write file")).clicked() {
        match write(window, session, view, settings, &path) {
            Ok(path) => {
                session.note(format!("Wrote {}", path.display()));
                window.open = false;
            }
            Err(error) => session.complain(&error),
        }
    }
    ask
}

fn write(
    window: &ExportWindow,
    session: &Session,
    view: &ViewState,
    settings: &Settings,
    path: &Path,
) -> Result<PathBuf, ExportError> {
    let shown = session.shown().ok_or(ExportError::Nothing("no dispatch is shown"))?;
    let outcome = session.outcome().map(|(outcome, _)| outcome);
    let no_result = ExportError::Nothing("there is no result to export");
    let changed = !session.edits().is_empty();
    let oracle = session.selected_source().map(|source| source.oracle().clone());
    let oracle = oracle.ok_or(ExportError::Nothing("no trace is open"))?;
    let done = path.to_owned();
    match window.what {
        What::Png => {
            let kind = VIEWS[window.view.min(VIEWS.len() - 1)].0;
            let picture =
                view.picture(session, kind, settings.metric, settings.overlay).map_err(ExportError::Nothing)?;
            export::png(&picture, path).map(|()| done)
        }
        What::ExrResult => {
            let plane = Plane::Got(outcome.ok_or(no_result)?.clone());
            export::exr(&plane, session.slice(), shown.number, path).map(|()| done)
        }
        What::ExrOracle => {
            let plane = Plane::Expected(shown.dispatch.clone());
            export::exr(&plane, session.slice(), shown.number, path).map(|()| done)
        }
        What::Csv => export::csv(outcome.ok_or(no_result)?, path).map(|()| done),
        What::Case => export::case(&shown.dispatch, &oracle, changed, path),
        What::SampleCase => {
            let sample = session.sample().ok_or(ExportError::Nothing("no sample is selected"))?;
            export::sample_case(&shown.dispatch, &oracle, changed, sample, path)
        }
    }
}
