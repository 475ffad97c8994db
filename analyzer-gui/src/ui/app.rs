//! The window.

use std::{path::PathBuf, sync::Arc, time::Instant};

use clap::ValueEnum as _;
use egui::{CentralPanel, Key, Modifiers, Panel, Ui};
use egui_tiles::Tree;

use super::{
    bench::Bench,
    descriptor_panel::DescriptorPanel,
    dialogs::{Ask, Dialog},
    export_window::{self, ExportWindow, What},
    list_panel::{self, ListPanel},
    panes::{self, Pane, Panes, Request},
    spirv_panel::SpirvPanel,
    step_panel::StepPanel,
    theme,
    tile_store::TileStore,
    top_bar::{self, TopBar, TopRequest},
    view_bar,
    view_state::{RangeMode, ViewKind, ViewState},
};
use crate::{
    args::{Args, Theme},
    model::{
        choice::{ExecutorChoice, ProfileChoice},
        export, fields,
        goto::{Goto, parse_sample},
        navigate::{self, Layout, Order, Step},
        outcome::{Outcome, Verdict},
        raster::Channels,
        session::{Session, Shown},
        settings::Settings,
        worker::Wake,
    },
};

const SETTINGS_KEY: &str = "settings";
const LAYOUT_KEY: &str = "layout";

/// Frames in which nothing may change before a picture of the window is taken.
const SETTLED: usize = 4;

/// The window.
pub struct AnalyzerApp {
    session: Session,
    settings: Settings,
    view: ViewState,
    tree: Tree<Pane>,
    tiles: TileStore,
    wake: Wake,
    list: ListPanel,
    top: TopBar,
    descriptors: DescriptorPanel,
    spirv: SpirvPanel,
    steps: StepPanel,
    export: ExportWindow,
    open_path: Option<String>,
    keys_shown: bool,
    dialog: Option<Dialog>,
    /// Fields to be set once the first dispatch is there.
    pending_fields: Vec<String>,
    close_up: bool,
    /// Arguments about how images are shown, until the first dispatch is there.
    pending_view: Option<Box<Args>>,
    show: Vec<Pane>,
    /// The tile that takes the room of all.
    maximised: Option<Pane>,
    /// The tile under the pointer.
    pointed: Option<Pane>,
    screenshot: Option<Screenshot>,
    bench: Option<Bench>,
    last_outcome: Option<u64>,
}

struct Screenshot {
    path: PathBuf,
    settled: usize,
    asked: bool,
    taken: Arc<std::sync::Mutex<Option<Arc<egui::ColorImage>>>>,
}

impl AnalyzerApp {
    /// Makes the window, restores what is stored, and opens what the command line names. `started` is when the program
    /// started.
    ///
    /// # Errors
    /// When the system gives no threads.
    pub fn new(creation: &eframe::CreationContext<'_>, args: &Args, started: Instant) -> std::io::Result<Self> {
        let ctx = creation.egui_ctx.clone();
        theme::apply(&ctx);
        let wake: Wake = {
            let ctx = ctx.clone();
            Arc::new(move || ctx.request_repaint())
        };
        let storage = creation.storage.filter(|_| !args.fresh);
        let mut settings: Settings =
            storage.and_then(|storage| eframe::get_value(storage, SETTINGS_KEY)).unwrap_or_default();
        let tree = storage
            .and_then(|storage| eframe::get_value::<Tree<Pane>>(storage, LAYOUT_KEY))
            .filter(panes::is_complete)
            .unwrap_or_else(panes::default_tree);
        let mut choice = settings.choice();
        if let Some(path) = args.path {
            choice.path = path;
        }
        if let Some(profile) = &args.profile {
            choice.profile = ProfileChoice::Named(profile.clone());
        }
        if let Some(executor) = &args.executor {
            choice.executor = executor.clone();
        }
        choice.strict |= args.strict;
        settings.set_choice(&choice);
        settings.metric = args.metric.unwrap_or(settings.metric);
        match args.theme {
            Some(Theme::Dark) => ctx.set_theme(egui::ThemePreference::Dark),
            Some(Theme::Light) => ctx.set_theme(egui::ThemePreference::Light),
            // What egui stores by itself is forgotten as well. A test has set its own.
            None if args.fresh && creation.storage.is_some() => ctx.set_theme(egui::ThemePreference::System),
            None => {}
        }
        let mut session = Session::new(choice, wake.clone())?;
        for path in &args.traces {
            session.open(path.clone());
        }
        if let Some(output) = args.output {
            session.expect_output(output);
        }
        if let Some(goto) = &args.goto {
            session.goto(goto.clone());
        }
        Ok(Self {
            session,
            settings,
            view: ViewState::default(),
            tree,
            tiles: TileStore::new(&wake)?,
            steps: StepPanel::new(&wake)?,
            wake,
            list: ListPanel::default(),
            top: TopBar::default(),
            descriptors: DescriptorPanel::default(),
            spirv: SpirvPanel::default(),
            export: ExportWindow::default(),
            open_path: None,
            keys_shown: false,
            dialog: None,
            pending_fields: args.set.clone(),
            close_up: args.close_up,
            pending_view: Some(Box::new(args.clone())),
            show: args.show.clone(),
            maximised: args.maximise,
            pointed: None,
            screenshot: args.screenshot.clone().map(|path| Screenshot {
                path,
                settled: 0,
                asked: false,
                taken: Arc::default(),
            }),
            bench: args.bench_frames.map(|frames| Bench::new(frames, started)),
            last_outcome: None,
        })
    }

    /// The state behind the window.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// As [`Self::session`], to change it.
    pub fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    /// The panel of shader steps.
    #[must_use]
    pub fn steps(&self) -> &StepPanel {
        &self.steps
    }

    /// How images are shown.
    #[must_use]
    pub fn view(&self) -> &ViewState {
        &self.view
    }

    /// Whether everything that was asked for is shown.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.session.is_idle() && self.steps.is_idle() && self.tiles.is_idle() && self.tiles.is_complete()
    }

    /// Leaves times out, so that pictures of the window are the same every time.
    pub fn hide_times(&mut self) {
        self.top.hide_times = true;
    }

    /// Brings a tile to the front.
    pub fn show_pane(&mut self, pane: Pane) {
        if let Some(id) = self.tree.tiles.find_pane(&pane) {
            self.tree.make_active(|tile, _| tile == id);
        }
    }

    /// Draws the window and answers to input: all of a frame.
    pub fn window_ui(&mut self, ui: &mut Ui) {
        let ctx = ui.ctx().clone();
        self.tiles.begin_frame(&ctx);
        self.take_reports();
        self.take_drops(&ctx);
        self.take_dialog();
        for pane in std::mem::take(&mut self.show) {
            self.show_pane(pane);
        }
        self.keyboard(&ctx);

        Panel::top("top").show(ui, |ui| {
            ui.add_space(2.0);
            let request = top_bar::top_bar_ui(ui, &mut self.session, &mut self.settings, &mut self.top);
            self.settings.set_choice(&self.session.choice().clone());
            if let Some(request) = request {
                self.answer(&ctx, request);
            }
            top_bar::status_ui(ui, &mut self.session, self.top.hide_times);
            self.messages_ui(ui);
            ui.add_space(2.0);
        });
        if !self.session.has_traces() {
            CentralPanel::default().show(ui, |ui| {
                list_panel::broken_ui(ui, &mut self.session);
                self.empty_ui(ui);
            });
        } else {
            Panel::left("list").default_size(280.0).min_size(180.0).show(ui, |ui| {
                ui.add_space(4.0);
                list_panel::list_ui(ui, &mut self.session, &mut self.list, &mut self.settings.sort);
            });
            self.status_line_ui(ui);
            let frame = egui::Frame::new().fill(ui.visuals().panel_fill).inner_margin(4);
            CentralPanel::default().frame(frame).show(ui, |ui| self.panes_ui(ui));
        }
        self.windows_ui(&ctx);
        self.drop_hint_ui(&ctx);
        self.tiles.end_frame();
        self.take_screenshot(&ctx);
    }

    fn take_reports(&mut self) {
        self.session.poll();
        for path in self.session.take_opened() {
            self.settings.remember(&path);
        }
        if self.session.shown().is_some() && !self.pending_fields.is_empty() {
            for text in std::mem::take(&mut self.pending_fields) {
                match fields::parse_setting(&text) {
                    Ok((descriptor, entry, field, value)) => {
                        let set = match entry {
                            Some(entry) => self.session.set_field_of(descriptor, entry, field, value),
                            None => self.session.set_field(descriptor, field, value),
                        };
                        if let Err(error) = set {
                            self.session.complain(&error);
                        }
                    }
                    Err(error) => self.session.complain(&error),
                }
            }
        }
        if self.session.shown().is_some() {
            self.view.follow(&self.session);
            if let Some(args) = self.pending_view.take() {
                self.view.channels = args.channels;
                self.view.range = args.range.unwrap_or(self.view.range);
                self.view.viewport = args.at.unwrap_or(self.view.viewport);
                self.view.texture_viewport = args.texture_at.unwrap_or(self.view.texture_viewport);
                self.view.texture_at = args.texture.map_or(self.view.texture_at, |at| at.0);
                if let Some(slice) = args.slice {
                    self.session.set_slice(slice);
                }
            }
        }
        // With a result in sight and --close-up, the selected sample is shown enlarged; without one, the first that differs.
        let outcome = self.session.outcome().map(|(_, serial)| serial);
        if outcome.is_some() && outcome != self.last_outcome {
            self.last_outcome = outcome;
            if std::mem::take(&mut self.close_up) {
                if self.session.sample().is_none() {
                    self.session.step(self.settings.order, Step::Next);
                }
                if let Some(texel) = self.selected_place() {
                    self.view.viewport.close_up(texel);
                    self.reveal_taps(true);
                }
            }
        }
    }

    /// Where the selected sample is in its image.
    fn selected_place(&self) -> Option<[u32; 2]> {
        let shown = self.session.shown()?;
        Some(Layout::of(shown.dispatch.grid).place(self.session.sample()?).0)
    }

    /// Shows the part of the texture that the selected sample reads.
    fn reveal_taps(&mut self, close_up: bool) {
        let heaviest = self.session.sample_view().and_then(|view| view.info.heaviest_tap());
        if let Some((level, [x, y, slice])) = heaviest {
            self.view.texture_at = [level, slice];
            if close_up {
                self.view.texture_viewport.close_up([x, y]);
            } else {
                self.view.texture_reveal([x, y]);
            }
        }
    }

    /// Brings the selected sample and its taps into sight.
    fn reveal(&mut self) {
        if let Some(texel) = self.selected_place() {
            self.view.reveal = Some(texel);
            self.reveal_taps(false);
        }
    }

    fn take_drops(&mut self, ctx: &egui::Context) {
        let paths: Vec<PathBuf> =
            ctx.input(|input| input.raw.dropped_files.iter().map(|file| file.path().to_owned()).collect());
        for path in paths {
            self.session.open(path);
        }
    }

    fn take_dialog(&mut self) {
        let Some(paths) = self.dialog.as_ref().and_then(Dialog::poll) else { return };
        let ask = self.dialog.take().map(|dialog| dialog.ask);
        match ask {
            Some(Ask::OpenFiles | Ask::OpenFolder) => paths.into_iter().for_each(|path| self.session.open(path)),
            Some(Ask::SaveFile(_) | Ask::SaveFolder) => {
                if let Some(path) = paths.first() {
                    self.export.path = path.display().to_string();
                }
            }
            None => {}
        }
    }

    fn ask(&mut self, ask: Ask) {
        if self.dialog.is_none() {
            self.dialog = Some(Dialog::open(ask, self.wake.clone()));
        }
    }

    fn keyboard(&mut self, ctx: &egui::Context) {
        let typing = ctx.text_edit_focused();
        self.view.oracle_held = !typing && ctx.input(|input| input.key_down(Key::O) && input.modifiers.is_none());
        let pressed = |modifiers: Modifiers, key: Key| ctx.input_mut(|input| input.consume_key(modifiers, key));
        if pressed(Modifiers::COMMAND, Key::O) {
            self.ask(Ask::OpenFiles);
        }
        if pressed(Modifiers::COMMAND, Key::E) && self.session.shown().is_some() {
            self.export.show_for(What::Png);
        }
        if pressed(Modifiers::COMMAND, Key::G) {
            self.top.focus_goto = true;
        }
        if pressed(Modifiers::NONE, Key::F5) {
            self.session.run_again();
        }
        if typing {
            return;
        }
        if pressed(Modifiers::NONE, Key::Escape) {
            self.session.cancel();
        }
        for (key, step) in [(Key::N, Step::Next), (Key::P, Step::Previous)] {
            if pressed(Modifiers::NONE, key) && self.session.step(self.settings.order, step) {
                self.reveal();
            }
        }
        for (key, step) in
            [(Key::PageDown, Step::Next), (Key::J, Step::Next), (Key::PageUp, Step::Previous), (Key::K, Step::Previous)]
        {
            if pressed(Modifiers::NONE, key) {
                self.list.query.sort = self.settings.sort;
                self.session.step_row(&self.list.query, step);
            }
        }
        for (key, channels) in [
            (Key::Num0, Channels::Rgb),
            (Key::X, Channels::Solo(0)),
            (Key::Y, Channels::Solo(1)),
            (Key::Z, Channels::Solo(2)),
            (Key::W, Channels::Solo(3)),
        ] {
            if pressed(Modifiers::NONE, key) {
                self.view.channels = Some(channels);
            }
        }
        if pressed(Modifiers::NONE, Key::F) {
            self.view.viewport.fit();
        }
        if let Some(shown) = self.session.shown()
            && pressed(Modifiers::NONE, Key::Num1)
        {
            let size = Layout::of(shown.dispatch.grid).size();
            self.view.viewport.set_zoom(1.0 / ctx.pixels_per_point(), size);
        }
        if pressed(Modifiers::NONE, Key::B) {
            self.view.blink = !self.view.blink;
        }
        if pressed(Modifiers::NONE, Key::S) {
            self.view.split = if self.view.split.is_some() { None } else { Some(0.5) };
        }
        if pressed(Modifiers::NONE, Key::M) {
            self.maximised = if self.maximised.is_some() { None } else { self.pointed };
        }
        if pressed(Modifiers::NONE, Key::L) {
            self.settings.lens = !self.settings.lens;
        }
        if pressed(Modifiers::SHIFT, Key::Questionmark) || pressed(Modifiers::NONE, Key::Questionmark) {
            self.keys_shown = !self.keys_shown;
        }
        self.move_sample(ctx);
    }

    /// Arrow keys move the selected sample when no widget has the keyboard.
    fn move_sample(&mut self, ctx: &egui::Context) {
        if ctx.memory(|memory| memory.focused().is_some()) {
            return;
        }
        let Some(at) = self.selected_place() else { return };
        let Some(layout) = self.session.shown().map(|shown| Layout::of(shown.dispatch.grid)) else { return };
        for (key, [dx, dy]) in
            [(Key::ArrowLeft, [-1i64, 0]), (Key::ArrowRight, [1, 0]), (Key::ArrowUp, [0, -1]), (Key::ArrowDown, [0, 1])]
        {
            if !ctx.input_mut(|input| input.consume_key(Modifiers::NONE, key)) {
                continue;
            }
            let moved = [i64::from(at[0]) + dx, i64::from(at[1]) + dy].map(u32::try_from);
            if let [Ok(x), Ok(y)] = moved
                && let Some(index) = layout.index(x, y, self.session.slice())
            {
                self.session.select_sample(Some(index));
                self.reveal();
            }
        }
    }

    fn answer(&mut self, ctx: &egui::Context, request: TopRequest) {
        match request {
            TopRequest::OpenFiles => self.ask(Ask::OpenFiles),
            TopRequest::OpenFolder => self.ask(Ask::OpenFolder),
            TopRequest::OpenPath => self.open_path = Some(String::new()),
            TopRequest::OpenRecent(at) => {
                if let Some(path) = self.settings.recent.get(at).cloned() {
                    self.session.open(path);
                }
            }
            TopRequest::CloseAll => self.session.close_all(),
            TopRequest::Export => self.export.show_for(What::Png),
            TopRequest::ResetLayout => (self.tree, self.maximised) = (panes::default_tree(), None),
            TopRequest::Keys => self.keys_shown = true,
            TopRequest::CopyLink => {
                if let Some(link) = self.link() {
                    ctx.copy_text(link.clone());
                    self.session.note(format!("Copied: {link}"));
                }
            }
            TopRequest::Reveal => self.reveal(),
            TopRequest::Goto => self.go_to_text(),
        }
    }

    /// The command that opens exactly this view.
    #[must_use]
    pub fn link(&self) -> Option<String> {
        let (path, place) = (self.session.selected_path()?, self.session.place()?);
        let shown = self.session.shown()?;
        let choice = self.session.choice();
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let mut words = vec!["analyzer-gui".to_owned(), path.display().to_string()];
        let mut add = |name: &str, value: String| words.extend([name.to_owned(), value]);
        add("--goto", place.to_string());
        if shown.compute.is_none() {
            add("--path", choice.path.to_string());
        } else if self.session.output() != 0 {
            add("--output", self.session.output().to_string());
        }
        if let ProfileChoice::Named(name) = &choice.profile {
            add("--profile", name.clone());
        }
        if self.session.path().needs_executor() && choice.executor != ExecutorChoice::Auto {
            add("--executor", choice.executor.to_string());
        }
        add("--metric", self.settings.metric.to_possible_value()?.get_name().to_owned());
        if let Some(channels) = self.view.channels {
            add("--channels", channels.name().to_lowercase());
        }
        if self.view.range != RangeMode::PRESETS[0].1 {
            add("--range", self.view.range.to_string());
        }
        if self.session.slice() != 0 {
            add("--slice", self.session.slice().to_string());
        }
        for (name, viewport) in [("--at", self.view.viewport), ("--texture-at", self.view.texture_viewport)] {
            if viewport.zoom.is_some() {
                add(name, viewport.to_string());
            }
        }
        if self.view.texture_at != [0, 0] {
            add("--texture", self.view.texture_at.map(|n| n.to_string()).join(","));
        }
        let in_front = self.tree.active_tiles();
        for pane in [Pane::Difference, Pane::Spirv, Pane::Steps] {
            if self.tree.tiles.find_pane(&pane).is_some_and(|id| in_front.contains(&id)) {
                add("--show", pane.to_possible_value()?.get_name().to_owned());
            }
        }
        if let Some(pane) = self.maximised {
            add("--maximise", pane.to_possible_value()?.get_name().to_owned());
        }
        for setting in fields::settings(&shown.recorded, &self.session.edits()) {
            add("--set", setting);
        }
        if choice.strict {
            words.push("--strict".to_owned());
        }
        Some(words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "))
    }

    fn go_to_text(&mut self) {
        let text = self.top.goto.trim().to_owned();
        if let Some(at) = parse_sample(&text) {
            let Some(grid) = self.session.shown().map(|shown| shown.dispatch.grid) else { return };
            match navigate::index(at, grid) {
                Some(index) => {
                    self.session.select_sample(Some(index));
                    self.reveal();
                    self.top.goto.clear();
                }
                None => self
                    .session
                    .complain(&format!("{text}: no such sample, the grid is {} x {} x {}", grid[0], grid[1], grid[2])),
            }
            return;
        }
        match text.parse::<Goto>() {
            Ok(goto) => {
                self.session.goto_open(goto);
                self.reveal();
            }
            Err(error) => return self.session.complain(&error),
        }
        self.top.goto.clear();
    }

    fn messages_ui(&mut self, ui: &mut Ui) {
        let (mut dismissed, mut reload) = (None, None);
        let messages = self.session.messages();
        for (at, message) in messages.iter().enumerate().rev().take(4) {
            ui.horizontal_wrapped(|ui| {
                let button = ui.small_button("×").accessible_name(format!("Dismiss: {}", message.text));
                if button.clicked() {
                    dismissed = Some(at);
                }
                if let Some(path) = &message.reload
                    && ui.small_button("Open again").clicked()
                {
                    reload = Some((at, path.clone()));
                }
                let visuals = ui.visuals();
                let error = theme::verdict(Some(Verdict::Mismatch), visuals);
                let colour = if message.is_error { error } else { visuals.text_color() };
                ui.colored_label(colour, &message.text);
            });
        }
        if let Some((at, path)) = reload {
            self.session.dismiss(at);
            self.session.open(path);
        } else if let Some(at) = dismissed {
            self.session.dismiss(at);
        }
    }

    fn empty_ui(&mut self, ui: &mut Ui) {
        ui.vertical_centered(|ui| {
            ui.add_space((ui.available_height() / 3.5).max(20.0));
            if self.session.is_opening() {
                ui.spinner();
                ui.label("opening…");
                return;
            }
            ui.heading("No trace is open");
            ui.add_space(6.0);
            ui.label("Drop .texeltrace files, cases or folders here, or open them:");
            ui.add_space(8.0);
            if ui.button("Open files…").clicked() {
                self.ask(Ask::OpenFiles);
            }
            if ui.button("Open folder…").clicked() {
                self.ask(Ask::OpenFolder);
            }
            if ui.button("Open path…").clicked() {
                self.open_path = Some(String::new());
            }
            ui.add_space(12.0);
            let recent = self.settings.recent.clone();
            if !recent.is_empty() {
                ui.weak("Opened lately");
                for path in recent {
                    if ui.link(path.display().to_string()).clicked() {
                        self.session.open(path);
                    }
                }
            }
        });
    }

    fn panes_ui(&mut self, ui: &mut Ui) {
        view_bar::view_bar_ui(ui, &mut self.session, &mut self.view, &mut self.settings);
        ui.add_space(2.0);
        let mut requests = Vec::new();
        let mut panes = Panes {
            session: &mut self.session,
            view: &mut self.view,
            settings: &mut self.settings,
            tiles: &mut self.tiles,
            descriptors: &mut self.descriptors,
            spirv: &mut self.spirv,
            steps: &mut self.steps,
            hovered: None,
            pointed: None,
            requests: &mut requests,
        };
        match self.maximised {
            Some(pane) => panes.maximised_ui(ui, pane),
            None => self.tree.ui(&mut panes, ui),
        }
        let (hovered, pointed) = (panes.hovered, panes.pointed);
        self.pointed = pointed;
        if hovered != self.view.hovered {
            ui.ctx().request_repaint();
        }
        self.view.hovered = hovered;
        // It was brought into sight in the views that were drawn.
        self.view.reveal = None;
        for request in requests {
            match request {
                Request::Export(what) => self.export.show_for(what),
                Request::Explain => self.session.explain_shown(),
                Request::Maximise(pane) => self.maximised = if self.maximised.is_none() { Some(pane) } else { None },
                Request::Cause(cause) => {
                    self.settings.order = Order::Cause;
                    self.session.choose_cause(cause);
                    self.session.select_sample(None);
                    if self.session.step(Order::Cause, Step::Next) {
                        self.reveal();
                    }
                }
            }
        }
    }

    /// The values under the pointer, or of the selected sample.
    fn status_line_ui(&self, ui: &mut Ui) {
        Panel::bottom("values").show(ui, |ui| {
            let Some(shown) = self.session.shown() else {
                ui.weak(" ");
                return;
            };
            let slice = self.session.slice();
            let layout = Layout::of(shown.dispatch.grid);
            let hovered = self.view.hovered.and_then(|[x, y]| layout.index(x, y, slice));
            let Some(index) = hovered.or_else(|| self.session.sample()) else {
                ui.weak("Point at a sample to see its values; click to see everything about it. ? shows the keys.");
                return;
            };
            let at = navigate::position(index, shown.dispatch.grid);
            let outcome = self.session.outcome().map(|(outcome, _)| outcome.as_ref());
            let line = egui::RichText::new(values_line(shown, outcome, at, index)).monospace();
            // One line whatever is under the pointer, so that nothing moves.
            ui.add(egui::Label::new(line).truncate());
        });
    }

    fn windows_ui(&mut self, ctx: &egui::Context) {
        let mut open = self.export.open;
        let mut ask = None;
        egui::Window::new("Export").open(&mut open).resizable(false).show(ctx, |ui| {
            ask = export_window::export_ui(ui, &mut self.export, &mut self.session, &self.view, &self.settings);
        });
        self.export.open &= open;
        if let Some(ask) = ask {
            self.ask(ask);
        }
        self.open_path_ui(ctx);
        let mut shown = self.keys_shown;
        egui::Window::new("Keys").open(&mut shown).resizable(false).show(ctx, keys_ui);
        self.keys_shown = shown;
    }

    fn open_path_ui(&mut self, ctx: &egui::Context) {
        let Some(text) = &mut self.open_path else { return };
        let (mut open, mut go) = (true, false);
        egui::Window::new("Open path").open(&mut open).resizable(false).show(ctx, |ui| {
            ui.label("A trace, a case, a folder, or a pattern such as traces/*/*.texeltrace");
            let edit = ui
                .add(egui::TextEdit::singleline(text).hint_text("path").desired_width(380.0))
                .accessible_name("Path to open");
            go = edit.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
            go |= ui.button("Open").clicked();
        });
        let path = text.trim().to_owned();
        if go && !path.is_empty() {
            self.session.open(PathBuf::from(path));
            open = false;
        }
        if !open {
            self.open_path = None;
        }
    }

    fn drop_hint_ui(&self, ctx: &egui::Context) {
        if ctx.input(|input| input.raw.hovered_files.is_empty()) {
            return;
        }
        let layer = egui::LayerId::new(egui::Order::Foreground, egui::Id::unique("drop hint"));
        let painter = ctx.layer_painter(layer);
        let rect = ctx.content_rect();
        painter.rect_filled(rect, 0.0, egui::Color32::from_black_alpha(190));
        let font = egui::FontId::proportional(28.0);
        painter.text(rect.center(), egui::Align2::CENTER_CENTER, "Drop to open", font, egui::Color32::WHITE);
    }

    fn take_screenshot(&mut self, ctx: &egui::Context) {
        let settled = self.is_settled();
        let Some(screenshot) = &mut self.screenshot else { return };
        let taken = screenshot.taken.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        if let Some(image) = taken {
            if let Err(error) = export::window_png(&image, &screenshot.path) {
                eprintln!("analyzer-gui: {error}");
            }
            self.screenshot = None;
            ctx.send_viewport_cmd(egui::ViewportCommand::Close);
            return;
        }
        screenshot.settled = if settled { screenshot.settled + 1 } else { 0 };
        if screenshot.settled > SETTLED && !screenshot.asked {
            screenshot.asked = true;
            let (taken, wake) = (screenshot.taken.clone(), self.wake.clone());
            ctx.request_screenshot(move |image| {
                *taken.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(image);
                wake();
            });
        }
        ctx.request_repaint();
    }

    fn take_bench(&mut self, ctx: &egui::Context, cpu: Option<f32>) {
        let settled = self.is_settled();
        let picture = self
            .view
            .picture(&self.session, ViewKind::Oracle, self.settings.metric, self.settings.overlay)
            .is_ok_and(|picture| self.tiles.has_overview(&picture));
        let Some(bench) = &mut self.bench else { return };
        if let Some(report) = bench.frame(picture, settled, cpu, &mut self.view) {
            println!("{report}");
            self.bench = None;
            ctx.send_viewport_cmd(egui::ViewportCommand::Close);
        }
        ctx.request_repaint();
    }
}

/// A word of a shell's command line.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,#+=@".contains(c);
    if !text.is_empty() && text.chars().all(plain) && !text.starts_with('#') {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// Got and expected of a sample in a line.
fn values_line(shown: &Shown, outcome: Option<&Outcome>, at: [u32; 3], index: usize) -> String {
    use crate::model::number::{decimal, ulp, word};
    let (dispatch, number) = (&shown.dispatch, shown.number);
    let [x, y, z] = at;
    let mut text = format!("{x},{y},{z}");
    let got = outcome.and_then(|outcome| outcome.got(index));
    let difference = outcome.and_then(|outcome| outcome.difference(index));
    let expected = dispatch.expected.as_ref();
    for (c, name) in ["X", "Y", "Z", "W"].iter().enumerate() {
        let wanted =
            expected.and_then(|e| e.sample(index).filter(|_| e.measured_channels(index) >> c & 1 == 1)).map(|w| w[c]);
        let found = got.map(|words| words[c]);
        text += &match (found, wanted) {
            (Some(g), Some(e)) if g == e => format!("   {name} {} {}", word(g), decimal(g, number)),
            (Some(g), Some(e)) => {
                let distance = difference.filter(|d| d.channels >> c & 1 == 1).map(|d| d.distances[c]);
                let distance = distance.map_or(String::new(), |d| match d {
                    0 => " sign of zero".to_owned(),
                    d => format!(" {} ULP", ulp(d)),
                });
                format!(
                    "   {name} got {} {} expected {} {}{distance}",
                    word(g),
                    decimal(g, number),
                    word(e),
                    decimal(e, number)
                )
            }
            (None, Some(e)) => format!("   {name} expected {} {}", word(e), decimal(e, number)),
            (Some(g), None) => format!("   {name} {} {} (not measured)", word(g), decimal(g, number)),
            (None, None) => String::new(),
        };
    }
    text
}

fn keys_ui(ui: &mut Ui) {
    egui::Grid::new("keys").num_columns(2).spacing([16.0, 3.0]).show(ui, |ui| {
        for (key, meaning) in [
            ("N, P", "next and previous differing sample"),
            ("arrow keys", "move the selected sample"),
            ("J, K, PageDown, PageUp", "next and previous dispatch of the list"),
            ("F, 1", "fit, one pixel a sample"),
            ("wheel, drag, double click", "zoom, pan, close up"),
            ("0, X, Y, Z, W", "RGB, or one channel"),
            ("O (hold)", "oracle in place of the result"),
            ("B, S", "blink, split"),
            ("L", "lens"),
            (", .", "back and forward in the shader steps"),
            ("M", "enlarge the tile under the pointer, and back"),
            ("Ctrl+O, Ctrl+E, Ctrl+G", "open, export, go to"),
            ("F5, Esc", "run again, give up"),
        ] {
            ui.label(egui::RichText::new(key).monospace());
            ui.label(meaning);
            ui.end_row();
        }
    });
}

impl eframe::App for AnalyzerApp {
    fn ui(&mut self, ui: &mut Ui, frame: &mut eframe::Frame) {
        self.window_ui(ui);
        self.take_bench(&ui.ctx().clone(), frame.info().cpu_usage);
    }

    fn save(&mut self, storage: &mut dyn eframe::Storage) {
        eframe::set_value(storage, SETTINGS_KEY, &self.settings);
        eframe::set_value(storage, LAYOUT_KEY, &self.tree);
    }
}
