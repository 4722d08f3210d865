//! What the columns of a table mean: said by a mapping, or proposed from their names.

use std::fmt;
use std::str::FromStr;

use crate::number::{names_currency, quoted};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Date,
    ValueDate,
    /// Signed; money in is positive.
    Amount,
    /// Money out.
    Debit,
    /// Money in.
    Credit,
    /// The direction of an amount that has no sign.
    Sign,
    /// What the payment is for. Several columns are joined.
    Text,
    /// The counterparty's name.
    Name,
    /// The counterparty's account.
    Account,
    /// The account that the statement is for.
    OwnAccount,
    /// The bank's own reference, which no two lines share. A reference that payers choose is text.
    Reference,
    Currency,
    /// The balance after the line.
    Balance,
}

/// How dates or amounts are written, where the column does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    DayFirst,
    MonthFirst,
    YearFirst,
    Point,
    Comma,
}

/// A column and what it holds: `Datum=date:dmy`. `#3` is the third column, whatever its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub field: Field,
    pub notation: Option<Notation>,
}

impl Field {
    pub const ALL: [(Self, &'static str); 13] = [
        (Self::Date, "date"),
        (Self::ValueDate, "valueDate"),
        (Self::Amount, "amount"),
        (Self::Debit, "debit"),
        (Self::Credit, "credit"),
        (Self::Sign, "sign"),
        (Self::Text, "text"),
        (Self::Name, "name"),
        (Self::Account, "account"),
        (Self::OwnAccount, "ownAccount"),
        (Self::Reference, "reference"),
        (Self::Currency, "currency"),
        (Self::Balance, "balance"),
    ];

    pub(super) fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(field, _)| *field == self)
            .map_or("", |(_, name)| name)
    }

    pub(super) fn is_day(self) -> bool {
        matches!(self, Self::Date | Self::ValueDate)
    }

    pub(super) fn is_amount(self) -> bool {
        matches!(self, Self::Amount | Self::Debit | Self::Credit | Self::Balance)
    }
}

impl Notation {
    const ALL: [(Self, &'static str); 5] = [
        (Self::DayFirst, "dmy"),
        (Self::MonthFirst, "mdy"),
        (Self::YearFirst, "ymd"),
        (Self::Point, "point"),
        (Self::Comma, "comma"),
    ];

    fn is_day(self) -> bool {
        matches!(self, Self::DayFirst | Self::MonthFirst | Self::YearFirst)
    }

    pub(super) fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(notation, _)| *notation == self)
            .map_or("", |(_, name)| name)
    }
}

impl Column {
    /// The place that `#3` names, from 0.
    pub(super) fn position(&self) -> Option<usize> {
        self.name.strip_prefix('#')?.parse::<usize>().ok()?.checked_sub(1)
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.field.name())?;
        match self.notation {
            Some(notation) => write!(f, ":{}", notation.name()),
            None => Ok(()),
        }
    }
}

impl FromStr for Column {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |what: &str| {
            format!(
                "{what}, got {}; write COLUMN=FIELD, such as Datum=date:dmy",
                quoted(text)
            )
        };
        let (name, meaning) = text
            .rsplit_once('=')
            .ok_or_else(|| wrong("a column must be mapped with ="))?;
        let (field, notation) = match meaning.split_once(':') {
            Some((field, notation)) => (field, Some(notation)),
            None => (meaning, None),
        };
        let found = Field::ALL
            .iter()
            .find(|(_, known)| known.eq_ignore_ascii_case(field.trim()));
        let (field, _) = found.ok_or_else(|| {
            let names: Vec<&str> = Field::ALL.iter().map(|(_, name)| *name).collect();
            wrong(&format!("the field must be one of {}", names.join(", ")))
        })?;
        let notation = match notation {
            Some(written) => {
                let fits = |notation: &Notation| {
                    if notation.is_day() {
                        field.is_day()
                    } else {
                        field.is_amount()
                    }
                };
                let found = Notation::ALL
                    .iter()
                    .find(|(known, name)| *name == written.trim() && fits(known));
                let rule = "dates are written dmy, mdy or ymd, and amounts with point or comma";
                Some(found.ok_or_else(|| wrong(rule))?.0)
            }
            None => None,
        };
        if name.trim().is_empty() {
            return Err(wrong("the column has no name"));
        }
        Ok(Self {
            name: name.trim().to_owned(),
            field: *field,
            notation,
        })
    }
}

/// Names of columns in English, German, Spanish, French and Dutch, the surest first. `Reference` alone is text: where it
/// is what payers wrote, two lines of a day share it.
const NAMES: [(Field, &str); 13] = [
    (
        Field::Date,
        "bookingdate buchungstag buchungsdatum buchung boekdatum boekingsdatum fechacontable fechaoperacion fechadeoperacion \
         datecomptable dateoperation datedoperation datedecomptabilisation posteddate postingdate postdate dateposted \
         datebooked bookeddate transactiedatum transactiondate completeddate date datum fecha",
    ),
    (
        Field::ValueDate,
        "valuedate wertstellung wertstellungsdatum valutadatum wert valuta rentedatum fechavalor datevaleur datedevaleur \
         effectivedate",
    ),
    (
        Field::Amount,
        "amount betrag umsatz umsatzineur betragineur importe montant bedrag transactionamount transactiebedrag betrageur amounteur montanteur \
         bedrageur cantidad",
    ),
    (
        Field::Debit,
        "debit debitamount moneyout paidout withdrawal withdrawals soll ausgaben ausgang belastung lastschrift cargo cargos \
         debe retrait",
    ),
    (
        Field::Credit,
        "credit creditamount moneyin paidin deposit deposits haben einnahmen eingang gutschrift abono abonos haber depot",
    ),
    (
        Field::Sign,
        "debitcredit creditdebit drcr crdr dc cd sollhaben sh shkennzeichen sollhabenkennzeichen afbij debitcreditindicator \
         creditdebitindicator debitcreditmarker vorzeichen sens bijaf",
    ),
    (
        Field::Text,
        "text purpose verwendungszweck remittanceinformation description details memo narrative paymentreference \
         transactiondescription buchungstext zahlungsreferenz betreff concepto descripcion observaciones libelle communication \
         communications motif omschrijving omschrijving1 omschrijving2 omschrijving3 mededelingen reference referenz \
         referencia betalingskenmerk notes",
    ),
    (
        Field::Name,
        "name counterparty counterpartyname payee payer payeename partnername partner \
         beguenstigterzahlungspflichtiger auftraggeberbeguenstigter auftraggeberempfaenger namezahlungsbeteiligter \
         zahlungsbeteiligter zahlungsempfaenger empfaenger beguenstigter zahlungspflichtiger auftraggeber beneficiario \
         ordenante beneficiaire tiers naamtegenpartij tegenpartij naamomschrijving naam",
    ),
    (
        Field::Account,
        "counterpartyaccount counterpartyiban partneriban ibanzahlungsbeteiligter kontonummeriban gegenkonto \
         tegenrekening tegenrekeningibanbban counterpartyaccountnumber iban kontonummer comptebeneficiaire cuentabeneficiario",
    ),
    (
        Field::OwnAccount,
        "ownaccount auftragskonto ibanauftragskonto rekening ibanbban accountiban rekeningnummer accountnumber account",
    ),
    (
        Field::Reference,
        "bankreference bankreferenz transactionid transaktionsid transaktionsnummer transactionreference fitid volgnr \
         referenciabancaria",
    ),
    (
        Field::Currency,
        "currency waehrung devise divisa moneda munt muntsoort currencycode",
    ),
    (
        Field::Balance,
        "balance runningbalance saldo kontostand saldonachbuchung solde saldonatrn saldonamutatie accountbalance \
         balanceafter",
    ),
];

/// Proposes what the columns of a header mean. Fields other than text are given to one column only. Columns with amounts in
/// another currency than the account's are passed over.
pub(super) fn propose(header: &[String], currency: Option<&str>) -> Vec<Column> {
    let bare: Vec<String> = header.iter().map(|name| folded(name)).collect();
    let mut taken = vec![false; header.len()];
    let mut columns = Vec::new();
    for (field, names) in NAMES {
        for name in names.split_whitespace() {
            let places = bare.iter().enumerate().filter(|(_, found)| *found == name);
            for (at, _) in places {
                let is_known = columns.iter().any(|column: &Column| column.field == field);
                let is_foreign = || {
                    let named = currency_in(&header[at]).zip(currency);
                    field.is_amount() && named.is_some_and(|(named, own)| !names_currency(named, own))
                };
                if !taken[at] && (field == Field::Text || !is_known) && !is_foreign() {
                    taken[at] = true;
                    columns.push(Column {
                        name: header[at].trim().to_owned(),
                        field,
                        notation: None,
                    });
                }
            }
        }
    }
    columns
}

/// The currency in the name of a column: `Amount (USD)`, `Paid in (£)`, `Betrag in EUR`.
fn currency_in(name: &str) -> Option<&str> {
    if folded(name).ends_with("eur") {
        return Some("EUR");
    }
    let (_, inside) = name.split_once('(')?;
    let inside = inside.split(')').next()?.trim();
    let is_code = inside.len() == 3 && inside.bytes().all(|byte| byte.is_ascii_uppercase());
    (is_code || ["€", "$", "£", "¥"].contains(&inside)).then_some(inside)
}

/// A name without case, accents, punctuation, and what is in parentheses.
fn folded(name: &str) -> String {
    let name = name.split('(').next().unwrap_or_default().to_lowercase();
    let mut out = String::new();
    for c in name.chars() {
        match c {
            'ä' => out.push_str("ae"),
            'ö' => out.push_str("oe"),
            'ü' => out.push_str("ue"),
            'ß' => out.push_str("ss"),
            'á' | 'à' | 'â' => out.push('a'),
            'é' | 'è' | 'ê' | 'ë' => out.push('e'),
            'í' | 'î' | 'ï' => out.push('i'),
            'ó' | 'ô' => out.push('o'),
            'ú' | 'ù' | 'û' => out.push('u'),
            'ñ' => out.push('n'),
            'ç' => out.push('c'),
            c if c.is_ascii_alphanumeric() => out.push(c),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_written_as_they_are_read() {
        for text in [
            "Datum=date:dmy",
            "#3=amount:comma",
            "a=b=text",
            "Saldo=balance",
            "Wert=valueDate",
        ] {
            assert_eq!(text.parse::<Column>().unwrap().to_string(), text);
        }
        for text in [
            "Datum",
            "Datum=",
            "Datum=day",
            "Datum=date:comma",
            "=date",
            "Betrag=amount:dmy",
            "x=text:dmy",
        ] {
            text.parse::<Column>().unwrap_err();
        }
    }

    #[test]
    fn every_name_is_proposed_for_one_field() {
        let mut all: Vec<&str> = NAMES
            .iter()
            .flat_map(|(_, names)| names.split_whitespace())
            .collect();
        assert!(all.iter().all(|name| folded(name) == *name));
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
