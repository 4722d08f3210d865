//! Rules that the engine holds.

/// Those rules of `bursar check` that the engine can enforce on a row by itself: ids have 16 bytes, words are known,
/// booleans are 0 or 1, amounts are not negative, no more is paid than is due, and nothing has two debtors. NULL
/// passes. Rules that may be loosened one day, or that look at other rows, stay in the program. For an IN with more
/// than two words SQLite would make a temporary table for every row written.
pub(super) const RULES: &str = r"
ALTER TABLE organizations ADD CONSTRAINT organizations_form CHECK (length(id) = 16 AND length(parent_id) = 16
    AND (kind = 'national' OR kind = 'chapter' OR kind = 'independent')
    AND card_issuing IN ('approved', 'pending'));
ALTER TABLE users ADD CONSTRAINT users_form CHECK (length(id) = 16);
ALTER TABLE roles ADD CONSTRAINT roles_form CHECK (length(organization_id) = 16 AND length(user_id) = 16
    AND (role = 'viewer' OR role = 'editor' OR role = 'admin'));
ALTER TABLE policies ADD CONSTRAINT policies_form CHECK (length(organization_id) = 16
    AND max_token_days BETWEEN 1 AND 365);
ALTER TABLE tokens ADD CONSTRAINT tokens_form CHECK (length(organization_id) = 16 AND length(id) = 16
    AND length(user_id) = 16 AND length(family_id) = 16
    AND (role = 'viewer' OR role = 'editor' OR role = 'admin') AND days BETWEEN 1 AND 365
    AND ends_at <= expires_at);
ALTER TABLE tokens ADD CONSTRAINT tokens_owner CHECK (
    (kind = 'personal' AND user_id IS NOT NULL AND role IS NULL)
        OR (kind = 'service' AND user_id IS NULL AND role IS NOT NULL));
ALTER TABLE members ADD CONSTRAINT members_form CHECK (length(organization_id) = 16 AND length(id) = 16
    AND length(group_ids) % 16 = 0 AND is_active IN (0, 1));
ALTER TABLE groups ADD CONSTRAINT groups_form CHECK (length(organization_id) = 16 AND length(id) = 16
    AND is_recurring IN (0, 1)
    AND (recurring_interval = 'weekly' OR recurring_interval = 'monthly' OR recurring_interval = 'quarterly'
        OR recurring_interval = 'semiannual' OR recurring_interval = 'annual')
    AND due_anchor_day BETWEEN 1 AND 31);
ALTER TABLE groups ADD CONSTRAINT groups_amounts CHECK (amount_due >= 0 AND member_count >= 0);
ALTER TABLE memberships ADD CONSTRAINT memberships_form CHECK (length(organization_id) = 16
    AND length(group_id) = 16 AND length(member_id) = 16);
ALTER TABLE payments ADD CONSTRAINT payments_form CHECK (length(organization_id) = 16 AND length(id) = 16
    AND length(member_id) = 16 AND length(group_id) = 16 AND length(target_organization_id) = 16
    AND (status = 'pending' OR status = 'processing' OR status = 'partially_paid' OR status = 'paid'
        OR status = 'cancelled' OR status = 'failed' OR status = 'disputed'));
ALTER TABLE payments ADD CONSTRAINT payments_amounts CHECK (paid_to_date >= 0 AND paid_to_date <= amount);
ALTER TABLE payments ADD CONSTRAINT payments_debtor CHECK (member_id IS NULL OR target_organization_id IS NULL);
ALTER TABLE dues_raised ADD CONSTRAINT dues_raised_form CHECK (length(organization_id) = 16
    AND length(group_id) = 16 AND length(member_id) = 16 AND length(payment_id) = 16);
ALTER TABLE dues_open ADD CONSTRAINT dues_open_form CHECK (length(organization_id) = 16
    AND length(group_id) = 16 AND amount >= 0);
ALTER TABLE ledger_entries ADD CONSTRAINT ledger_entries_form CHECK (length(organization_id) = 16
    AND length(payment_id) = 16 AND length(id) = 16 AND length(reverses_id) = 16);
ALTER TABLE reimbursements ADD CONSTRAINT reimbursements_form CHECK (length(organization_id) = 16
    AND length(id) = 16 AND length(member_id) = 16 AND length(recipient_organization_id) = 16
    AND (status = 'draft' OR status = 'submitted' OR status = 'approved' OR status = 'rejected'
        OR status = 'paid' OR status = 'voided'));
ALTER TABLE reimbursements ADD CONSTRAINT reimbursements_amounts CHECK (amount >= 0);
ALTER TABLE reimbursements ADD CONSTRAINT reimbursements_recipient CHECK (
    member_id IS NULL OR recipient_organization_id IS NULL);
ALTER TABLE reminders ADD CONSTRAINT reminders_form CHECK (length(organization_id) = 16 AND length(id) = 16
    AND length(target_member_id) = 16 AND length(target_organization_id) = 16 AND length(group_id) = 16
    AND method IN ('email', 'sms')
    AND (status = 'scheduled' OR status = 'sending' OR status = 'sent' OR status = 'failed'
        OR status = 'completed' OR status = 'cancelled') AND is_recurring IN (0, 1)
    AND include_payment_info IN (0, 1) AND is_held IN (0, 1) AND recurring_interval_days > 0);
ALTER TABLE reminders ADD CONSTRAINT reminders_target CHECK (
    target_organization_id IS NULL OR (target_member_id IS NULL AND group_id IS NULL));
ALTER TABLE cards ADD CONSTRAINT cards_form CHECK (length(organization_id) = 16 AND length(id) = 16
    AND length(assigned_member_id) = 16
    AND (status = 'active' OR status = 'frozen' OR status = 'canceled' OR status = 'invited'
        OR status = 'denied')
    AND (spend_limit_frequency = 'daily' OR spend_limit_frequency = 'weekly'
        OR spend_limit_frequency = 'monthly' OR spend_limit_frequency = 'one_time'));
ALTER TABLE cards ADD CONSTRAINT cards_amounts CHECK (spend_limit >= 0 AND transaction_limit >= 0);
ALTER TABLE campaigns ADD CONSTRAINT campaigns_form CHECK (length(organization_id) = 16 AND length(id) = 16
    AND (status = 'draft' OR status = 'active' OR status = 'ended') AND is_held IN (0, 1));
ALTER TABLE campaigns ADD CONSTRAINT campaigns_amounts CHECK (goal_amount >= 0);
ALTER TABLE listings ADD CONSTRAINT listings_form CHECK (length(organization_id) = 16 AND length(id) = 16
    AND is_active IN (0, 1));
ALTER TABLE orders ADD CONSTRAINT orders_form CHECK (length(organization_id) = 16 AND length(id) = 16
    AND length(listing_id) = 16 AND length(member_id) = 16
    AND (status = 'pending' OR status = 'paid' OR status = 'fulfilled' OR status = 'cancelled'
        OR status = 'refunded'));
ALTER TABLE orders ADD CONSTRAINT orders_amounts CHECK (total_amount >= 0);
";
