use super::Texts;

pub(super) const ENGLISH: Texts = Texts {
    language: "en",

    greeting: "Dear {name},",
    introduction: "This is a reminder of what is open with {organization}.",
    about: "This message is about {members}.",
    and: "and",
    subject: "A reminder from {organization}",
    test_subject: "[Test] {subject}",
    sms: "{organization}: {text}",
    reply: "Reply to this e-mail to reach us.",

    overdue: "Overdue",
    due: "Due now",
    not_due: "Not due yet",
    charge: "Payment",
    due_heading: "Due",
    due_on: "due {date}",
    for_member: "{what} for {member}",
    reference: "Reference {reference}",
    pay_now: "To pay now",
    total_owed: "Total owed",
    overdue_of: "{amount}, of which {overdue} is overdue",
    more: "and {count} more",
    total_of: "{amount} ({count} payments)",
    how_to_pay: "How to pay",
    use_reference: "Please give the reference {reference}.",
    use_one_reference: "Please give the reference {reference} to pay everything at once, or the reference of a single payment.",
};
