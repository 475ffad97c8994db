//! What draws the window. Functions that draw end in `_ui`.

pub mod app;
pub mod bench;
pub mod bindings_panel;
pub mod causes_panel;
pub mod descriptor_panel;
pub mod dialogs;
pub mod export_window;
pub mod image_view;
pub mod legend;
pub mod list_panel;
pub mod panes;
pub mod sample_panel;
pub mod spirv_panel;
pub mod step_panel;
pub mod theme;
pub mod tile_store;
pub mod top_bar;
pub mod view_bar;
pub mod view_state;
