//! Arguments that choose what computes, shared by commands.

use std::time::Duration;

use clap::{Args, ValueEnum};

use super::exit::Failure;
use crate::{
    batch::{Against, ExecutorKind, Pictures, Settings},
    path::Path,
    rules::Profile,
};

/// How long a dispatch may take when nothing else is asked for.
pub(super) const TIME_LIMIT: Duration = Duration::from_secs(60);

/// What computes the results and what they are held against.
#[derive(Clone, Debug, Args)]
pub(super) struct ComputeArguments {
    /// What computes the results: emulated (generated SPIR-V), reference (the CPU model), as-submitted (the emulated filter
    /// as it was first submitted), native (the device's own sampler), or recorded (the SPIR-V of a compute dispatch)
    /// [default: emulated, and recorded for compute dispatches]
    #[arg(long, value_name = "PATH")]
    path: Option<Path>,
    /// What they are held against: oracle (the recorded results), or another path
    #[arg(long, value_name = "oracle|PATH", default_value = "oracle")]
    against: Against,
    /// The rules of this hardware: gfx1035, h200, exact or lavapipe; without it, those that each trace's oracle follows
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// What runs SPIR-V; auto takes a Vulkan device when there is one, else the embedded executor
    #[arg(long, value_enum, default_value = "auto")]
    executor: ExecutorArgument,
    /// The Vulkan device, by its number in `devices` or a part of its name
    #[arg(long, value_name = "N|NAME")]
    device: Option<String>,
    /// Refuse what rests on inference alone
    #[arg(long)]
    strict: bool,
    /// Compare sign and payload of NaNs as well
    #[arg(long)]
    nan_payload: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ExecutorArgument {
    Auto,
    Vulkan,
    Embedded,
}

impl ComputeArguments {
    /// The profile that was asked for.
    pub(super) fn profile_name(&self) -> Option<&str> {
        self.profile.as_deref()
    }

    /// Checks the arguments against each other.
    pub(super) fn settings(&self, pictures: Pictures) -> Result<Settings, Failure> {
        if let Some(name) = &self.profile
            && Profile::by_name(name).is_none()
        {
            let known: Vec<_> = Profile::ALL.iter().map(|p| p.name).collect();
            return Err(Failure::usage(format!("--profile {name}: expected one of {}", known.join(", "))));
        }
        let path = self.path.unwrap_or(Path::Emulated);
        if self.against == Against::Path(path) {
            return Err(Failure::usage(format!("--against {path}: expected another path than --path {path}")));
        }
        // That path is the device's own sampler.
        let native = path == Path::Native || self.against == Against::Path(Path::Native);
        let executor = match self.executor {
            ExecutorArgument::Embedded if native => {
                return Err(Failure::usage(
                    "--executor embedded: expected vulkan, path native is a device's own sampler",
                ));
            }
            ExecutorArgument::Auto if native => ExecutorKind::Vulkan,
            ExecutorArgument::Auto => ExecutorKind::Auto,
            ExecutorArgument::Vulkan => ExecutorKind::Vulkan,
            ExecutorArgument::Embedded => ExecutorKind::Embedded,
        };
        if self.device.is_some() && executor == ExecutorKind::Embedded {
            return Err(Failure::usage("--device: expected a Vulkan executor, the embedded one has no devices"));
        }
        Ok(Settings {
            path,
            recorded: self.path.is_none(),
            against: self.against,
            profile: self.profile.clone(),
            executor,
            device: self.device.clone(),
            time_limit: TIME_LIMIT,
            strict: self.strict,
            nan_payload: self.nan_payload,
            pictures,
        })
    }
}
