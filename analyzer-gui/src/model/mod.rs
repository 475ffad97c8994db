//! What the window shows, without a window.

pub mod causes;
pub mod choice;
pub mod colour;
pub mod compare;
pub mod compute;
pub mod disassembly;
pub mod edits;
pub mod evaluate;
pub mod export;
pub mod fields;
pub mod goto;
pub mod list;
pub mod navigate;
pub mod number;
pub mod outcome;
pub mod raster;
pub mod sample;
pub mod session;
pub mod settings;
pub mod stamp;
pub mod stats;
pub mod step;
pub mod texture;
pub mod tiles;
pub mod viewport;
pub mod worker;
