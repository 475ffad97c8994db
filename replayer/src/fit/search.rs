//! The search over rules.

use super::score::Samples;
use crate::rules::{LodRounding, RuleId, Rules};

/// Rules that shape the same results: where several of them are wrong, changing one alone may bring nothing.
const GROUPS: [&[RuleId]; 7] = [
    &[RuleId::SubtexelBits, RuleId::WeightRounding, RuleId::CoordinateProduct, RuleId::CoordinateStep],
    &[RuleId::WeightScheme, RuleId::Accumulation, RuleId::ResultRounding],
    &[RuleId::LodRounding, RuleId::LodRoundingStage, RuleId::MipNearest, RuleId::MipNearestLod],
    &[RuleId::SubtexelBits, RuleId::PointRounding, RuleId::TruncCoord],
    &[RuleId::BorderSwizzle, RuleId::BorderMissingChannel, RuleId::BorderPrecision],
    &[RuleId::WeightScheme, RuleId::SubtexelBits, RuleId::ResultRounding],
    &[RuleId::MinifyFrom, RuleId::LodRounding, RuleId::LodRoundingStage, RuleId::ExplicitLodBias],
];

/// Samples of a dispatch that the first, the second and the third round look at.
const ROUNDS: [usize; 3] = [24, 96, 512];

/// Samples that a search for pairs looks at.
const STUBBORN: usize = 192;

/// The best rules that can be reached from `start`.
pub fn search(samples: &Samples, start: Rules) -> Rules {
    let mut rules = start;
    for count in ROUNDS {
        let thinned = samples.thinned(count);
        rules = descend(rules, |rules, limit| thinned.distance(rules, limit));
        rules = descend(rules, |rules, limit| {
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            thinned.mismatched(rules, limit).map(|n| n as u64)
        });
        rules = pairs(&thinned, rules);
    }
    rules
}

/// Changes rules as long as the score falls. `score` may give up above a limit.
fn descend(start: Rules, score: impl Fn(&Rules, u64) -> Option<u64>) -> Rules {
    let Some(mut best) = score(&start, u64::MAX) else { return start };
    let mut rules = start;
    loop {
        let before = best;
        let mut consider = |candidates: Vec<Rules>, rules: &mut Rules| {
            for candidate in candidates {
                if best == 0 {
                    return;
                }
                if let Some(found) = score(&candidate, best - 1) {
                    best = found;
                    *rules = candidate;
                }
            }
        };
        for group in GROUPS {
            consider(combinations(rules, group), &mut rules);
        }
        for &rule in RuleId::ALL {
            consider(combinations(rules, &[rule]), &mut rules);
        }
        if best == before {
            return rules;
        }
    }
}

/// Every consistent choice of values for some rules, the others left as they are.
fn combinations(rules: Rules, group: &[RuleId]) -> Vec<Rules> {
    let mut all = vec![rules];
    for &rule in group {
        all = all
            .iter()
            .flat_map(|rules| (0..rule.value_names().len()).filter_map(|value| rules.with(rule, value)))
            .collect();
    }
    all.into_iter().filter_map(repaired).filter(|candidate| *candidate != rules).collect()
}

/// Fixed-point weights need a fixed-point LOD; where the samples have said nothing about it, one is put in.
fn repaired(mut rules: Rules) -> Option<Rules> {
    if rules.fixed_point_weights() && rules.lod_rounding == LodRounding::None {
        rules.lod_rounding = LodRounding::NearestEven;
    }
    rules.inconsistency().is_none().then_some(rules)
}

/// Changes two rules at once where samples are left that no single change explains.
fn pairs(samples: &Samples, mut rules: Rules) -> Rules {
    loop {
        let mut left = samples.mismatches(&rules);
        if left.is_empty() {
            return rules;
        }
        let total = left.len();
        let step = left.len().div_ceil(STUBBORN);
        left = left.into_iter().step_by(step).collect();
        let stubborn = samples.only(&left);
        // Ranked by the stubborn samples, settled by all.
        let mut ranked: Vec<(usize, Rules)> = Vec::new();
        for (n, &first) in RuleId::ALL.iter().enumerate() {
            for &second in &RuleId::ALL[n + 1..] {
                for candidate in combinations(rules, &[first, second]) {
                    if let Some(found) = stubborn.mismatched(&candidate, left.len() - 1) {
                        ranked.push((found, candidate));
                    }
                }
            }
        }
        ranked.sort_by_key(|(found, _)| *found);
        let better =
            ranked.into_iter().take(16).find(|(_, candidate)| samples.mismatched(candidate, total - 1).is_some());
        match better {
            Some((_, candidate)) => {
                rules = descend(candidate, |rules, limit| {
                    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
                    samples.mismatched(rules, limit).map(|n| n as u64)
                });
            }
            None => return rules,
        }
    }
}
