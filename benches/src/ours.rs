//! The workloads through this workspace's facade, in whichever build this is.

use std::hint::black_box;

use gym_telemetry_api::{Parent, SpanGroup, enter, if_telemetry, in_span, managed_span};

use crate::executor::{Yield, block_on};
use crate::names::{CHILD, NUMBER, ROOT, WORD};
use crate::{CHILDREN, Stack};

/// A group that is on once something exports.
static ON: SpanGroup = SpanGroup::new("bench_on");
/// A group that is never on.
pub(crate) static OFF: SpanGroup = SpanGroup::new("bench_off");

// Macros and not functions: a place in a program names its group, and asks the flag in that very static.

macro_rules! sequential {
    ($group:ident, $parent:expr) => {{
        #[inline(never)]
        fn child(number: i64) {
            let _entered = enter!($group, CHILD, WORD => "measured", NUMBER => number);
            black_box(number);
        }

        let root = managed_span!($group, ROOT, parent: $parent);
        let _root = root.entered();
        for number in 0..CHILDREN {
            child(number);
        }
    }};
}

macro_rules! asynchronous {
    ($group:ident, $parent:expr) => {{
        #[inline(never)]
        async fn child(number: i64) {
            in_span!($group, CHILD, WORD => "measured", NUMBER => number; async {
                Yield::default().await;
                black_box(number);
            })
            .await;
        }

        block_on(in_span!($group, ROOT, parent: $parent; async {
            for number in 0..CHILDREN {
                child(number).await;
            }
        }));
    }};
}

macro_rules! empty {
    ($group:ident, $parent:expr) => {
        drop(black_box(managed_span!($group, CHILD, parent: $parent)))
    };
}

if_telemetry!(items {
    use std::sync::OnceLock;
    use std::time::Duration;

    use gym_telemetry_api::__private::testing::Discard;
    use gym_telemetry_api::SpanContext;
    use gym_telemetry_core::group::{self, Registration};

    static TELEMETRY: OnceLock<Discard> = OnceLock::new();

    /// The stacks of this build: compiled in, with the group off, on, and in a trace that is not sampled.
    ///
    /// # Panics
    ///
    /// If this process records already.
    pub fn stacks() -> Vec<Stack> {
        let registration = Registration { namespace: "bench", groups: &[&ON, &OFF], presets: &[] };
        group::register(&registration).expect("the names are free");
        let telemetry = Discard::install().expect("nothing was set up before");
        TELEMETRY.set(telemetry).expect("the stacks are made once");
        let warning = group::apply_spec("bench_on");
        assert_eq!(warning, None);
        vec![
            Stack {
                name: "group off",
                sequential: || sequential!(OFF, Parent::Current),
                asynchronous: || asynchronous!(OFF, Parent::Current),
                empty: || empty!(OFF, Parent::Current),
                flush: || {},
                exported: None,
            },
            Stack {
                name: "unsampled",
                sequential: || sequential!(ON, Parent::Remote(unsampled())),
                asynchronous: || asynchronous!(ON, Parent::Remote(unsampled())),
                empty: || empty!(ON, Parent::Remote(unsampled())),
                flush,
                exported: None,
            },
            Stack {
                name: "group on",
                sequential: || sequential!(ON, Parent::Current),
                asynchronous: || asynchronous!(ON, Parent::Current),
                empty: || empty!(ON, Parent::Current),
                flush,
                exported: Some(|| TELEMETRY.get().map_or(0, Discard::exported)),
            },
        ]
    }

    fn flush() {
        if let Some(telemetry) = TELEMETRY.get() {
            let _ = telemetry.handle().flush(Duration::from_secs(10));
        }
    }

    /// A caller in another process that does not sample.
    fn unsampled() -> &'static SpanContext {
        static CONTEXT: OnceLock<SpanContext> = OnceLock::new();
        CONTEXT.get_or_init(|| {
            SpanContext::from_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00")
                .expect("the header is well formed")
        })
    }
} else {
    /// The stack of this build: compiled out.
    #[must_use]
    pub fn stacks() -> Vec<Stack> {
        vec![Stack {
            name: "compiled out",
            sequential: || sequential!(ON, Parent::Current),
            asynchronous: || asynchronous!(ON, Parent::Current),
            empty: || empty!(ON, Parent::Current),
            flush: || {},
            exported: None,
        }]
    }
});
