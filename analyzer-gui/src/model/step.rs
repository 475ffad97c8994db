//! An invocation's way through the shader, computed off the UI thread.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};

use capture_format::{ComputeDispatch, Dispatch};
use replayer::{
    path::{Failure, Path as ReplayPath},
    recorded::{self, Tap},
    rules::{Profile, Rules},
    step::{SampleStep, SampleTrace, StepFilter, trace_sample},
};

use super::{compute::Compute, navigate, session::Session, worker::Wake};

/// What is stepped through.
#[derive(Clone, Debug, PartialEq)]
pub struct StepKey {
    /// Serial of the shown dispatch, which changes with its fields.
    pub shown: u64,
    /// Number of the sample.
    pub sample: usize,
    /// The invocation of a compute dispatch, a `GlobalInvocationId`.
    pub invocation: Option<[u32; 3]>,
    /// The path whose module is executed.
    pub path: ReplayPath,
    /// The rules it is made by.
    pub profile: Profile,
}

/// One invocation, instruction by instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Walk {
    /// The executed instructions.
    pub steps: Vec<SampleStep>,
    /// What was executed, for people: which sample or invocation, by which path.
    pub title: String,
    /// What the sample returns: X, Y, Z, W; `None` for a compute dispatch.
    pub words: Option<[u32; 4]>,
    /// The rules by which the module was emitted; `None` for a compute dispatch, which has its own.
    pub rules: Option<Rules>,
    /// Accesses of a compute dispatch's invocation to images, or why they are not known.
    pub accesses: Result<Vec<Tap>, String>,
}

impl Walk {
    fn of_sample(trace: SampleTrace) -> Self {
        let [x, y, z] = trace.position;
        Self {
            steps: trace.steps,
            title: format!("sample {x},{y},{z}, {} ({})", trace.path, trace.profile),
            words: Some(trace.words),
            rules: Some(trace.rules),
            accesses: Ok(Vec::new()),
        }
    }

    fn of_invocation(dispatch: &ComputeDispatch, at: [u32; 3]) -> Result<Self, Failure> {
        let steps = recorded::steps(dispatch, at)?;
        let accesses = recorded::accesses(dispatch, &steps).map_err(|failure| failure.to_string());
        let [x, y, z] = at;
        let steps = steps.into_iter().enumerate();
        Ok(Self {
            steps: steps.map(|(index, step)| SampleStep { index, section: None, step }).collect(),
            title: format!("invocation {x},{y},{z}, recorded"),
            words: None,
            rules: None,
            accesses,
        })
    }
}

/// The steps of a sample or an invocation, or why there are none.
pub type Steps = Result<Arc<Walk>, String>;

/// What is executed.
enum Subject {
    Sample(Arc<Dispatch>),
    Compute(Arc<Compute>),
}

struct Task {
    key: StepKey,
    subject: Subject,
}

#[derive(Default)]
struct State {
    /// What is asked for and not begun.
    task: Option<Task>,
    /// What is being executed.
    running: Option<StepKey>,
    /// The last that was executed.
    done: Option<(StepKey, Steps)>,
    quit: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Executes one sample at a time on a thread of its own. Dropping it ends the thread after the sample that it is at.
pub struct Stepper {
    shared: Arc<Shared>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Stepper {
    /// Starts the thread. `wake` is called when a sample was executed.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(wake: Wake) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let thread = thread::Builder::new().name("step".to_owned()).spawn({
            let shared = shared.clone();
            move || work(&shared, &wake)
        })?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// The steps of the selected sample, once they are there; asks for them when they are not. `None` without a sample.
    ///
    /// Of a compute dispatch, those of `invocation`; without one, of the invocation that has the sample's place for its number.
    pub fn steps(&self, session: &Session, invocation: Option<[u32; 3]>) -> Option<Option<(StepKey, Steps)>> {
        let (shown, sample) = (session.shown()?, session.sample()?);
        let (subject, invocation) = match &shown.compute {
            Some(compute) => {
                let at = invocation.unwrap_or_else(|| navigate::position(sample, shown.dispatch.grid));
                (Subject::Compute(compute.clone()), Some(at))
            }
            None => (Subject::Sample(shown.dispatch.clone()), None),
        };
        // A compute dispatch follows none.
        let profile = match session.profile() {
            Err(_) if invocation.is_some() => Profile::EXACT,
            profile => profile.ok()?,
        };
        // Other paths have no shader: what is of interest beside them is the emulated path's.
        let path = match session.path() {
            ReplayPath::Recorded => ReplayPath::Recorded,
            ReplayPath::AsSubmitted => ReplayPath::AsSubmitted,
            _ => ReplayPath::Emulated,
        };
        let key = StepKey { shown: shown.serial, sample, invocation, path, profile };
        let mut state = self.shared.lock();
        if let Some((done, steps)) = &state.done
            && *done == key
        {
            return Some(Some((key, steps.clone())));
        }
        let asked = state.task.as_ref().is_some_and(|task| task.key == key) || state.running.as_ref() == Some(&key);
        if !asked {
            state.task = Some(Task { key, subject });
            self.shared.changed.notify_all();
        }
        Some(None)
    }

    /// Whether nothing is asked for.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        let state = self.shared.lock();
        state.task.is_none() && state.running.is_none()
    }
}

impl Drop for Stepper {
    fn drop(&mut self) {
        self.shared.lock().quit = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was already printed by its hook; there is nothing to add at the end.
            drop(thread.join());
        }
    }
}

fn work(shared: &Shared, wake: &Wake) {
    loop {
        let Task { key, subject } = {
            let mut state = shared.lock();
            loop {
                if state.quit {
                    return;
                }
                if let Some(task) = state.task.take() {
                    state.running = Some(task.key.clone());
                    break task;
                }
                state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        };
        let steps = match &subject {
            Subject::Sample(dispatch) => {
                trace_sample(dispatch, key.path, &key.profile, key.sample).map(Walk::of_sample)
            }
            Subject::Compute(compute) => Walk::of_invocation(&compute.dispatch, key.invocation.unwrap_or_default()),
        };
        let mut state = shared.lock();
        state.running = None;
        state.done = Some((key, steps.map(Arc::new).map_err(|failure| failure.to_string())));
        drop(state);
        wake();
    }
}

/// Numbers of the steps that pass a filter, in their order.
#[must_use]
pub fn passing(steps: &[SampleStep], filter: &StepFilter) -> Vec<usize> {
    filter.apply(steps).map(|s| s.index).collect()
}

/// The step that gave an id its value, as it is seen from a step: the last one before it.
#[must_use]
pub fn origin(steps: &[SampleStep], from: usize, id: u32) -> Option<usize> {
    steps.get(..from)?.iter().rposition(|s| s.step.result == Some(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_lead_back_to_where_they_were_computed() {
        let case = concat!(env!("CARGO_MANIFEST_DIR"), "/../traces/gfx1035/weight-rounding.toml");
        let dispatch = capture_format::open(case.as_ref()).expect("it ships").dispatch(0).expect("it is whole");
        let trace = trace_sample(&dispatch, ReplayPath::Emulated, &Profile::GFX1035, 0).expect("it is modelled");
        let rounding = StepFilter { opcode: Some("RoundEven".to_owned()), ..StepFilter::default() };
        let rounding = passing(&trace.steps, &rounding);
        let tie = rounding
            .iter()
            .copied()
            .find(|&n| trace.steps[n].step.value == Some(replayer::execute::embedded::Value::F32(642.0)))
            .expect("641.5 is rounded");
        // The last operand is what is rounded; it came of a product with 256.
        let operand = trace.steps[tie].step.operands.last().and_then(|o| o.id).expect("an id");
        let from = origin(&trace.steps, tie, operand).expect("it was computed");
        assert!(from < tie);
        assert_eq!(trace.steps[from].step.opcode, "OpFMul");
        assert_eq!(trace.steps[from].step.result, Some(operand));
        assert_eq!(origin(&trace.steps, 0, operand), None);
    }
}
