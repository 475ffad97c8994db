//! `fit` and `rules`: which rules explain what was recorded, and what the rules are.

use std::{io::Write as _, path::PathBuf};

use clap::Args;

use super::{
    Context,
    exit::{Exit, Failure, OrExit as _},
    progress::Progress,
};
use crate::{
    batch::{Selection, plan},
    fit::{Deciders, Fit, Recorded, Verdict, fit},
    rules::{Profile, RuleChange, RuleId},
    source::SourceCache,
    text::counted,
};

/// Find the rules that explain most recorded samples
///
/// Prints each rule's value with the samples that contradict every other one, the values that the traces can't tell apart, and
/// which capture would.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  replayer fit traces/h200\n  replayer fit captured --from gfx1035 --filter '*linear*'"
)]
pub(super) struct FitArguments {
    /// Traces, cases, folders or globs
    #[arg(required = true, value_name = "PATHS")]
    paths: Vec<PathBuf>,
    /// Only dispatches whose name matches this glob
    #[arg(long, value_name = "GLOB")]
    filter: Vec<String>,
    /// The rules that the search starts from: gfx1035, h200, exact or lavapipe
    #[arg(long, value_name = "NAME", default_value = "exact")]
    from: String,
}

/// The profile of that name.
fn profile(option: &str, name: &str) -> Result<Profile, Failure> {
    let known: Vec<_> = Profile::ALL.iter().map(|p| p.name).collect();
    Profile::by_name(name)
        .ok_or_else(|| Failure::usage(format!("{option} {name}: expected one of {}", known.join(", "))))
}

pub(super) fn run(arguments: &FitArguments, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let start = profile("--from", &arguments.from)?;
    let selection = Selection { paths: arguments.paths.clone(), filters: arguments.filter.clone(), shard: None };
    let plan = plan(&selection).or_usage()?;
    let mut sources = SourceCache::default();
    let progress = Progress::new(plan.items.len());
    let mut unreadable = plan.errors.len();
    for error in &plan.errors {
        progress.note(&format!("{}: {}", error.file, error.message));
    }
    let mut recorded = Vec::new();
    for item in &plan.items {
        match sources.dispatch(&item.file, item.index) {
            Ok(dispatch) => recorded.push(Recorded { trace: item.trace.clone(), dispatch }),
            Err(error) => {
                progress.note(&error.to_string());
                unreadable += 1;
            }
        }
    }
    drop(progress);
    if recorded.is_empty() {
        if unreadable > 0 {
            return Ok(Exit::Input);
        }
        return Err(Failure::nothing_selected(&arguments.paths, !arguments.filter.is_empty()));
    }
    let found = fit(&recorded, start.rules).or_input()?;
    print(&found, context)?;
    Ok(if unreadable > 0 { Exit::Input } else { Exit::Success })
}

fn print(found: &Fit, context: &mut Context<'_>) -> Result<(), Failure> {
    let out = &mut context.out;
    let mut deciders = None;
    writeln!(
        out,
        "{}; {} differ before, {} after",
        counted(found.samples, "sample"),
        found.mismatched_before,
        found.mismatched
    )?;
    for sample in &found.unexplained {
        writeln!(out, "  not explained: {}/{} sample {}", sample.trace, sample.dispatch, sample.sample)?;
    }
    for left_out in &found.left_out {
        writeln!(out, "  left out: {}/{}: {}", left_out.trace, left_out.dispatch, left_out.reason)?;
    }
    let mut findings: Vec<_> = found.findings.iter().collect();
    // Best supported first: by the fewest samples that speak against the next best value.
    let support = |finding: &crate::fit::Finding| {
        finding.alternatives.iter().filter_map(|a| a.tried.as_ref()).map(|d| d.against).min().unwrap_or(0)
    };
    findings.sort_by_key(|finding| std::cmp::Reverse(support(finding)));
    for verdict in [Verdict::Decided, Verdict::Undecided, Verdict::NotTried] {
        let title = match verdict {
            Verdict::Decided => "decided",
            Verdict::Undecided => "undecided: other values explain as much",
            Verdict::NotTried => "not tried: no other value can be taken alone",
        };
        let of_verdict: Vec<_> = findings.iter().filter(|f| f.verdict() == verdict).collect();
        if of_verdict.is_empty() {
            continue;
        }
        writeln!(out, "\n{title}")?;
        for finding in of_verdict {
            writeln!(out, "  {} = {}", finding.rule.name(), found.rules.value_name(finding.rule))?;
            for alternative in &finding.alternatives {
                let name = finding.rule.value_names()[alternative.value];
                match &alternative.tried {
                    None => writeln!(out, "    {name:<16} contradicts another rule")?,
                    Some(tried) => {
                        let first = tried.samples.first().map_or_else(String::new, |s| {
                            format!(", first {}/{} sample {}", s.trace, s.dispatch, s.sample)
                        });
                        let (differ, against) = (tried.mismatched, tried.against);
                        writeln!(out, "    {name:<16} {differ} samples differ, {against} against it{first}")?;
                    }
                }
                if let Some(changes) = &alternative.together {
                    let changes: Vec<_> = changes.iter().map(ToString::to_string).collect();
                    writeln!(out, "                     explains as much together with {}", changes.join(", "))?;
                }
                if alternative.is_possible()
                    && let Some(other) = alternative.rules(finding.rule, &found.rules)
                {
                    match deciders.get_or_insert_with(|| Deciders::new(&found.rules)).against(&other) {
                        Some(found) => writeln!(
                            out,
                            "                     capture --suite {} would tell: {}, {} of {} samples",
                            found.suite, found.dispatch, found.differing, found.samples
                        )?,
                        None => writeln!(
                            out,
                            "                     no suite tells them apart: Vulkan has no counterpart, or they agree where the suites look"
                        )?,
                    }
                }
            }
        }
    }
    Ok(())
}

/// List the rules, their values, and what each profile has and why
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  replayer rules\n  replayer rules weight-rounding --profile h200")]
pub(super) struct RulesArguments {
    /// Only these rules
    #[arg(value_name = "RULE")]
    rules: Vec<String>,
    /// Only this profile: gfx1035, h200, exact or lavapipe
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
}

pub(super) fn rules(arguments: &RulesArguments, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let profiles = match &arguments.profile {
        Some(name) => vec![profile("--profile", name)?],
        None => Profile::ALL.to_vec(),
    };
    let mut chosen = Vec::new();
    for name in &arguments.rules {
        chosen.push(RuleId::by_name(name).ok_or_else(|| {
            let known: Vec<_> = RuleId::ALL.iter().map(|r| r.name()).collect();
            Failure::usage(format!("{name}: expected one of {}", known.join(", ")))
        })?);
    }
    if chosen.is_empty() {
        chosen.extend(RuleId::ALL);
    }
    let text = |lines: &[&str]| lines.iter().map(|l| l.trim()).collect::<Vec<_>>().join(" ");
    for rule in chosen {
        writeln!(context.out, "{}  {}", rule.name(), text(rule.doc()))?;
        for (value, docs) in rule.value_docs().iter().enumerate() {
            let change = RuleChange { rule, value };
            writeln!(context.out, "  {:<16} {}", change.value_name(), text(docs))?;
        }
        for profile in &profiles {
            let evidence = profile.evidence(rule);
            let value = profile.rules.value_name(rule);
            writeln!(context.out, "  {}: {value} ({}: {})", profile.name, evidence.kind, evidence.source)?;
        }
    }
    Ok(Exit::Success)
}
