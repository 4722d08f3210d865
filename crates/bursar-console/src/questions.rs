//! Questions of pages to payment providers. They wait for another server, so they are asked beside the threads that serve
//! requests.

use bursar_app::online::Teller;
use bursar_app::online::port::Tested;
use bursar_app::{AppError, DbError};
use bursar_domain::ids::{OnlinePaymentId, OrganizationId};
use hyper::StatusCode;

use crate::failure::{Failure, told};
use crate::reply::see_other;
use crate::serve::{Answer, Console};

/// The page about a test: what the key can do, or why it does not work.
pub(crate) type Tell = Box<dyn FnOnce(Result<Tested, String>) -> Result<String, Failure> + Send>;

/// Who sends the form was asked by its page.
pub(crate) enum Question {
    /// Whether the key works.
    Test(Tell),
    /// What became of a payment; then this address shows it.
    Pursue(OnlinePaymentId, String),
}

impl Console {
    pub(crate) async fn ask_provider(
        &self,
        organization: OrganizationId,
        question: Question,
    ) -> Result<Answer, Failure> {
        match question {
            Question::Test(tell) => {
                let tested = match self.beside(move |teller| teller.test(organization)).await {
                    Ok(tested) => Ok(tested),
                    Err(AppError::Refused(refusal)) => Err(told(&refusal).message),
                    Err(other) => return Err(other.into()),
                };
                Ok(Answer::Page(StatusCode::OK, tell(tested)?))
            }
            Question::Pursue(id, to) => {
                self.beside(move |teller| teller.pursue(organization, id)).await?;
                Ok(Answer::Reply(see_other(&to)))
            }
        }
    }

    /// Asks at once what the worker would ask soon. If it cannot be asked, the worker asks again.
    pub(crate) async fn pursue(&self, organization: OrganizationId, id: OnlinePaymentId) {
        if let Err(error) = self.beside(move |teller| teller.pursue(organization, id)).await {
            tracing::debug!(%error, "the payment provider was not asked");
        }
    }

    async fn beside<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&Teller) -> Result<T, AppError> + Send + 'static,
    ) -> Result<T, AppError> {
        let teller = self.teller.clone();
        let asked = tokio::task::spawn_blocking(move || ask(&teller));
        asked
            .await
            .unwrap_or_else(|error| Err(DbError::Internal(error.to_string()).into()))
    }
}
