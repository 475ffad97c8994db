//! The window that writes files.

use std::{
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use egui::Ui;

use super::{
    dialogs::Ask,
    view_state::{ViewKind, ViewState},
};
use crate::model::{
    export::{self, ExportError, Written},
    raster::Plane,
    session::Session,
    settings::Settings,
    worker::Export,
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

/// What a picture can show; `None`: the level and slice of the source texture that is in sight.
const VIEWS: [(Option<ViewKind>, &str); 5] = [
    (Some(ViewKind::Heatmap), "heatmap"),
    (Some(ViewKind::Difference), "difference"),
    (Some(ViewKind::Result), "result"),
    (Some(ViewKind::Oracle), "oracle"),
    (None, "source texture"),
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
        ui.weak("One pixel a sample or texel, with the range and channels that are set.");
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
    let folder = matches!(window.what, What::Case | What::SampleCase);
    if !folder && path.is_file() {
        ui.weak("The file is there already and will be replaced.");
    }
    let ready = !path.as_os_str().is_empty() && session.shown().is_some() && !session.is_exporting();
    if ui.add_enabled(ready, egui::Button::new("Write file")).clicked() {
        match job(window, session, view, settings, path) {
            Ok(export) => {
                session.export(export);
                window.open = false;
            }
            Err(error) => session.complain(&error),
        }
    }
    ask
}

/// Writes a file until the flag is set.
type WriteFile = Box<dyn FnOnce(&Path, &AtomicBool) -> Result<Written, ExportError> + Send>;

/// What writes the file. It holds all it needs, so that it runs in the background.
fn job(
    window: &ExportWindow,
    session: &Session,
    view: &ViewState,
    settings: &Settings,
    path: PathBuf,
) -> Result<Export, ExportError> {
    let shown = session.shown().ok_or(ExportError::Nothing("no dispatch is shown"))?;
    let outcome = session.outcome().map(|(outcome, _)| outcome.clone());
    let no_result = ExportError::Nothing("there is no result to export");
    let changed = !session.edits().is_empty();
    let oracle = session.selected_source().map(|source| source.oracle().clone());
    let oracle = oracle.ok_or(ExportError::Nothing("no trace is open"))?;
    let (dispatch, number, slice) = (shown.dispatch.clone(), shown.number, session.slice());
    let target = path.clone();
    let file = |write: WriteFile| -> Export {
        Box::new(move |stop| match write(&target, stop) {
            Ok(Written::Whole) => Some(Ok(target)),
            Ok(Written::GivenUp) => None,
            Err(error) => Some(Err(error.to_string())),
        })
    };
    Ok(match window.what {
        What::Png => {
            let picture = match VIEWS[window.view.min(VIEWS.len() - 1)].0 {
                Some(kind) => view
                    .picture(session, kind, settings.metric, settings.overlay)
                    .map_err(|reason| ExportError::Unseen(reason.to_owned()))?,
                None => view.texture_picture(session, settings.overlay).map_err(ExportError::Unseen)?,
            };
            file(Box::new(move |path, stop| export::png(&picture, path, stop)))
        }
        What::ExrResult => {
            let plane = Plane::Got(outcome.ok_or(no_result)?);
            file(Box::new(move |path, stop| export::exr(&plane, slice, number, path, stop)))
        }
        What::ExrOracle => {
            let plane = Plane::Expected(dispatch);
            file(Box::new(move |path, stop| export::exr(&plane, slice, number, path, stop)))
        }
        What::Csv => {
            let outcome = outcome.ok_or(no_result)?;
            file(Box::new(move |path, stop| export::csv(&outcome, path, stop)))
        }
        What::Case if shown.compute.is_some() => {
            let compute = shown.compute.clone();
            Box::new(move |_| {
                let recorded = compute.map(|compute| compute.dispatch.clone())?;
                Some(export::compute_case(&recorded, &oracle, &path).map_err(|error| error.to_string()))
            })
        }
        What::SampleCase if shown.compute.is_some() => {
            return Err(ExportError::Nothing("a compute dispatch is written as a whole, not a sample of it"));
        }
        What::Case => {
            Box::new(move |_| Some(export::case(&dispatch, &oracle, changed, &path).map_err(|error| error.to_string())))
        }
        What::SampleCase => {
            let sample = session.sample().ok_or(ExportError::Nothing("no sample is selected"))?;
            Box::new(move |_| {
                let written = export::sample_case(&dispatch, &oracle, changed, sample, &path);
                Some(written.map_err(|error| error.to_string()))
            })
        }
    })
}
