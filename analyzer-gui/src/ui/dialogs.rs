//! File dialogs of the system, off the UI thread.

use std::{
    path::PathBuf,
    sync::mpsc::{Receiver, TryRecvError, channel},
};

use crate::model::worker::Wake;

/// What a dialog is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Files to open.
    OpenFiles,
    /// A folder to open.
    OpenFolder,
    /// A folder to write into.
    SaveFolder,
    /// A file to write, with its extension.
    SaveFile(&'static str),
}

/// A dialog that is open.
pub struct Dialog {
    /// What it was asked for.
    pub ask: Ask,
    answer: Receiver<Vec<PathBuf>>,
}

impl Dialog {
    /// Opens a dialog of the system. Where there is none, the answer is empty.
    #[must_use]
    pub fn open(ask: Ask, wake: Wake) -> Self {
        let (sender, answer) = channel();
        let show = move || {
            let dialog = rfd::FileDialog::new();
            let paths = match ask {
                Ask::OpenFiles => dialog
                    .add_filter("traces and cases", &["texeltrace", "toml"])
                    .add_filter("all files", &["*"])
                    .pick_files()
                    .unwrap_or_default(),
                Ask::OpenFolder => dialog.pick_folder().into_iter().collect(),
                Ask::SaveFolder => dialog.pick_folder().into_iter().collect(),
                Ask::SaveFile(extension) => dialog
                    .add_filter(extension, &[extension])
                    .set_file_name(format!("export.{extension}"))
                    .save_file()
                    .into_iter()
                    .collect(),
            };
            // The receiver is gone when the window was closed meanwhile.
            drop(sender.send(paths));
            wake();
        };
        // macOS shows dialogs on the main thread only; without a thread, the window waits for the dialog.
        if cfg!(target_os = "macos") {
            show();
        } else if let Err(error) = std::thread::Builder::new().name("dialog".to_owned()).spawn(show) {
            // The sender went with the closure, so the answer is empty.
            eprintln!("analyzer-gui: no thread for a dialog: {error}");
        }
        Self { ask, answer }
    }

    /// The answer, once there is one; no paths when the user gave up or there is no dialog.
    #[must_use]
    pub fn poll(&self) -> Option<Vec<PathBuf>> {
        match self.answer.try_recv() {
            Ok(paths) => Some(paths),
            Err(TryRecvError::Disconnected) => Some(Vec::new()),
            Err(TryRecvError::Empty) => None,
        }
    }
}
