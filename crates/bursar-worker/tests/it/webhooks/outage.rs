//! Receivers that are down for days, and endpoints that are disabled while a delivery is under way.

use std::sync::OnceLock;

use super::*;
use crate::office::drain;

#[test]
fn a_receiver_that_is_down_for_three_days_gets_everything_in_order() {
    both_engines(|test| {
        let office = Office::open(test, NOW, &club(1));
        let is_up = Arc::new(AtomicBool::new(true));
        let up = Arc::clone(&is_up);
        let receiver = Receiver::start(move |_, _| match up.load(Ordering::SeqCst) {
            true => (200, String::new()),
            false => (0, String::new()),
        });
        let id = endpoint(&office, &receiver.url()).record.id;
        make_group(&office.app(), "Before");
        let mut worker = office.worker();
        drain(&mut worker);
        is_up.store(false, Ordering::SeqCst);
        let began = office.now();
        for hour in 0..72 {
            make_group(&office.app(), &format!("Hour {hour}"));
            drain(&mut worker);
            office.later(3_600);
        }
        let record = show(&office, id);
        assert_eq!(
            (record.state, record.failing_since),
            (State::Enabled, Some(began))
        );
        let failed: Vec<String> = receiver.got()[1..]
            .iter()
            .map(|got| got.id().to_owned())
            .collect();
        // Hourly, a tenth more or less: at every second look at the latest.
        assert!(failed.len() >= 36, "{}", failed.len());
        assert!(failed.iter().all(|id| *id == failed[0]), "it waits for the first");
        is_up.store(true, Ordering::SeqCst);
        // The next of the hourly attempts, with the longest jitter.
        office.later(3_960);
        drain(&mut worker);
        let taken = receiver.got().into_iter().filter(|got| got.status == 200);
        let taken: Vec<Json> = taken.map(|got| json(&got)).collect();
        assert_eq!(taken.len(), 73);
        assert_eq!(taken, events(&office.app()));
        let record = show(&office, id);
        assert_eq!((record.state, record.failing_since), (State::Enabled, None));
        let listed = deliveries(&office, id);
        assert!(listed.iter().all(|one| one.outcome != Outcome::Failed));
    });
}

#[test]
fn after_an_endpoint_is_disabled_only_the_attempt_under_way_arrives() {
    both_engines(|test| {
        let office = Office::open(test, NOW, &club(1));
        let (app, own) = (office.app(), Arc::new(OnceLock::<WebhookId>::new()));
        let known = Arc::clone(&own);
        let receiver = Receiver::start(move |n, _| {
            if n == 0 {
                let id = *known.get().unwrap();
                let disabled =
                    app.act::<_, AppError>(Identity::Operator, ORG, move |act| webhooks::disable(act, id));
                disabled.wait().unwrap();
            }
            (200, String::new())
        });
        let id = endpoint(&office, &receiver.url()).record.id;
        own.set(id).unwrap();
        for name in ["One", "Two", "Three"] {
            make_group(&office.app(), name);
        }
        let mut worker = office.worker();
        drain(&mut worker);
        assert_eq!((receiver.count(), show(&office, id).state), (1, State::Disabled));
        office.later(86_400);
        drain(&mut worker);
        assert_eq!(receiver.count(), 1);
        // It continues after what the receiver has.
        office.act(move |act| webhooks::enable(act, id, false));
        drain(&mut worker);
        let got: Vec<Json> = receiver.got().iter().map(json).collect();
        assert_eq!(got, events(&office.app()));
    });
}
