//! Batches: many dispatches, run in worker processes so that a driver's crash is one dispatch's verdict.

mod backend;
mod child;
mod job;
mod judge;
mod judge_compute;
mod plan;
mod pool;
mod protocol;
mod shard;
mod stop;
mod worker;

pub use backend::{Backend, Installed, open_executor};
pub use job::{Against, ExecutorKind, Item, Pictures, Settings};
pub use judge::{Judged, judge, judge_recorded};
pub use plan::{Plan, PlanError, Selection, plan};
pub use pool::{Isolation, PoolOptions, RunEnd, Settled, run_all};
pub use protocol::{ExecutorName, ProtocolError, WireError};
pub use shard::{Shard, ShardChoice, ShardError, ShardKind};
pub use stop::Stop;
pub use worker::{WorkerError, serve};
