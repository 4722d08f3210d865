//! What messages are sent for, their states, and the queues they wait in.

use crate::words;

words! {
    /// What a job of the outbox sends.
    JobKind {
        /// A run of a reminder.
        Reminder "reminder",
        /// The notice that a token is about to expire.
        Notice "notice",
        /// The notice that a webhook endpoint was disabled.
        Webhook "webhook",
        /// A reminder as an officer sees it before it is sent.
        Test "test",
    }
}

words! {
    /// Where a message stands.
    MessageState {
        /// Waits for its next attempt.
        Queued "queued",
        /// A worker has claimed it.
        Sending "sending",
        /// The mail server or provider accepted it.
        Delivered "delivered",
        /// No server is set: it was written to a file, and nobody got it.
        Written "written",
        /// It was refused for good, or tried often enough.
        Failed "failed",
        /// Its recipient does not qualify.
        Skipped "skipped",
    }
}

words! {
    /// Work of all organizations that waits for a worker.
    Queue {
        /// Reminders whose time has come.
        Reminders "reminders",
        /// Groups whose dues are to be raised.
        Dues "dues",
        /// Tokens whose expiry notice is to be queued.
        Notices "notices",
        /// Messages by e-mail.
        Email "email",
        /// Messages by SMS.
        Sms "sms",
    }
}
