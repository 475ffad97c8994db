//! `devices`: what SPIR-V can run on.

use std::io::Write as _;

use clap::Args;

use super::{
    Context,
    exit::{Exit, Failure},
};
use crate::execute::vulkan::VulkanExecutor;

/// List the Vulkan devices, and what of them matters here
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  replayer devices\n  replayer run traces --executor vulkan --device llvmpipe")]
pub(super) struct DevicesArguments {
    /// Print JSON, with all that is known of each device
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &DevicesArguments, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let devices = VulkanExecutor::devices();
    let out = &mut context.out;
    if arguments.json {
        let (devices, problem) = match devices {
            Ok(devices) => (devices, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let list = serde_json::json!({ "schema": 1, "vulkan": devices, "vulkan_problem": problem, "embedded": true });
        writeln!(out, "{list:#}")?;
        return Ok(Exit::Success);
    }
    match devices {
        Ok(devices) => {
            for device in devices {
                let [major, minor, patch] = device.api_version;
                writeln!(out, "vulkan {}  {}", device.index, device.name)?;
                writeln!(out, "          {}, Vulkan {major}.{minor}.{patch}", device.kind.name())?;
                writeln!(out, "          driver {} {}", device.driver_name, device.driver_info)?;
                writeln!(
                    out,
                    "          native filter: {} subtexel bits, {} mip bits",
                    device.sub_texel_precision_bits, device.mipmap_precision_bits
                )?;
                if let Some(problem) = &device.problem {
                    writeln!(out, "          not usable: {problem}")?;
                }
            }
        }
        Err(error) => writeln!(out, "vulkan    none: {error}")?,
    }
    writeln!(out, "embedded  runs SPIR-V without a driver")?;
    Ok(Exit::Success)
}
