//! The open database, who acts, and what they mean by the names they type.

use bursar_app::names::{self, Called};
use bursar_app::resources::{self, Readable};
use bursar_app::{Act, App, AppError, DbError, Identity, Opening, View, Whole};
use bursar_domain::Refusal;
use bursar_domain::ids::{Id, Kind, OrganizationId, kind};

use super::exit::Exit;
use super::{Failure, Globals, hint};

/// What was typed to name a thing.
pub(crate) enum Ref<K> {
    Id(Id<K>),
    /// Also an e-mail address.
    Name(String),
}

impl<K> Clone for Ref<K> {
    fn clone(&self) -> Self {
        match self {
            Self::Id(id) => Self::Id(*id),
            Self::Name(name) => Self::Name(name.clone()),
        }
    }
}

impl<K: Kind> std::fmt::Debug for Ref<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Id(id) => write!(f, "{id}"),
            Self::Name(name) => write!(f, "{name:?}"),
        }
    }
}

/// Refuses the id of another kind and an id with a slip in it.
pub(crate) fn parse_ref<K: Kind>(text: &str) -> Result<Ref<K>, String> {
    match Id::parse(text.trim()) {
        Some(id) => Ok(Ref::Id(id)),
        None if hint::is_like_an_id(text) => Err(hint::not_an_id::<K>(text)),
        None if text.trim().is_empty() => Err("must be a name or an id".to_owned()),
        None => Ok(Ref::Name(text.to_owned())),
    }
}

/// Ends a rehearsal as a failure, so that nothing of it is kept.
enum Rehearsal<T> {
    Done(T),
    Failed(AppError),
}

impl<T> From<AppError> for Rehearsal<T> {
    fn from(error: AppError) -> Self {
        Self::Failed(error)
    }
}

impl<T> From<DbError> for Rehearsal<T> {
    fn from(error: DbError) -> Self {
        Self::Failed(error.into())
    }
}

pub(crate) struct Door<'g> {
    pub(crate) globals: &'g Globals,
    pub(crate) app: App,
    pub(crate) who: Identity,
}

impl<'g> Door<'g> {
    pub(crate) fn open(globals: &'g Globals) -> Result<Self, Failure> {
        Self::open_as(globals, Opening::Require)
    }

    pub(crate) fn open_as(globals: &'g Globals, opening: Opening) -> Result<Self, Failure> {
        let app = globals.open(opening)?;
        let who = globals.who(&app)?;
        Ok(Self { globals, app, who })
    }

    /// The organization of `--organization`, or the only one.
    pub(crate) fn organization(&self) -> Result<OrganizationId, Failure> {
        if let Some(named) = self.named_organization()? {
            return Ok(named);
        }
        let only = self.app.look(self.who, names::only_organization);
        only.wait().map_err(|error| {
            let is_unsaid = matches!(error, AppError::Refused(Refusal::Invalid { .. }));
            let failure = Failure::from(error);
            match is_unsaid {
                true => Failure {
                    exit: Exit::Usage,
                    ..failure
                },
                false => failure,
            }
        })
    }

    /// The organization of `--organization`, if it is given.
    pub(crate) fn named_organization(&self) -> Result<Option<OrganizationId>, Failure> {
        match &self.globals.organization {
            None => Ok(None),
            Some(named) => self.any_organization(named).map(Some),
        }
    }

    /// Any organization that the caller may see.
    pub(crate) fn any_organization(
        &self,
        named: &Ref<kind::Organization>,
    ) -> Result<OrganizationId, Failure> {
        match named {
            Ref::Id(id) => Ok(*id),
            Ref::Name(name) => {
                let name = name.clone();
                let found = self
                    .app
                    .look::<_, AppError>(self.who, move |whole| names::organization(whole, &name));
                Ok(found.wait()?)
            }
        }
    }

    /// Another organization that this one deals with.
    pub(crate) fn neighbour(
        &self,
        organization: OrganizationId,
        named: &Ref<kind::Organization>,
    ) -> Result<OrganizationId, Failure> {
        match named {
            Ref::Id(id) => Ok(*id),
            Ref::Name(name) => {
                let name = name.clone();
                self.view(organization, move |view| names::neighbour(view, &name))
            }
        }
    }

    pub(crate) fn find<K: Called>(
        &self,
        organization: OrganizationId,
        named: &Ref<K>,
    ) -> Result<Id<K>, Failure> {
        match named {
            Ref::Id(id) => Ok(*id),
            Ref::Name(name) => {
                let name = name.clone();
                self.view(organization, move |view| names::find(view, &name))
            }
        }
    }

    pub(crate) fn find_some<K: Called>(
        &self,
        organization: OrganizationId,
        named: Option<&Ref<K>>,
    ) -> Result<Option<Id<K>>, Failure> {
        named.map(|named| self.find(organization, named)).transpose()
    }

    /// What is named, and its organization: that of the id, or the one in which the name is looked for.
    pub(crate) fn locate<R: Readable>(
        &self,
        named: &Ref<R::Kind>,
    ) -> Result<(OrganizationId, Id<R::Kind>), Failure>
    where
        R::Kind: Called,
    {
        match named {
            Ref::Id(id) => Ok((self.home::<R>(*id)?, *id)),
            Ref::Name(_) => {
                let organization = self.organization()?;
                Ok((organization, self.find(organization, named)?))
            }
        }
    }

    pub(crate) fn home<R: Readable>(&self, id: Id<R::Kind>) -> Result<OrganizationId, Failure> {
        self.home_of(id, resources::owner::<R>)
    }

    /// The organization that an id belongs to. Looked up as the operator, because a person's permissions depend on the
    /// organization. It must be the one of `--organization`, if that is given.
    pub(crate) fn home_of<K: Kind>(
        &self,
        id: Id<K>,
        owner: impl FnOnce(&mut Whole<'_, '_>, Id<K>) -> Result<OrganizationId, AppError> + Send + 'static,
    ) -> Result<OrganizationId, Failure> {
        let found = self
            .app
            .look::<_, AppError>(Identity::Operator, move |whole| owner(whole, id));
        let home = found.wait()?;
        match self.named_organization()? {
            Some(named) if named != home => Err(Failure::missing(format!(
                "{} {id} is not of organization {named}; leave --organization (or BURSAR_ORGANIZATION) out",
                K::NOUN
            ))),
            Some(_) | None => Ok(home),
        }
    }

    pub(crate) fn act<T: Send + 'static>(
        &self,
        organization: OrganizationId,
        work: impl FnMut(&mut Act<'_, '_>) -> Result<T, AppError> + Send + 'static,
    ) -> Result<T, Failure> {
        Ok(self.app.act(self.who, organization, work).wait()?)
    }

    pub(crate) fn view<T: Send + 'static>(
        &self,
        organization: OrganizationId,
        work: impl FnOnce(&mut View<'_, '_>) -> Result<T, AppError> + Send + 'static,
    ) -> Result<T, Failure> {
        Ok(self.app.view(self.who, organization, work).wait()?)
    }

    /// For long reads: uses a connection of its own.
    pub(crate) fn survey<T>(
        &self,
        organization: OrganizationId,
        work: impl FnOnce(&mut View<'_, '_>) -> Result<T, AppError>,
    ) -> Result<T, Failure> {
        let done = self.app.survey(self.who, |whole| whole.view(organization, work));
        Ok(done?)
    }

    /// What an act would do: it is done and rolled back. Refuses what the act would refuse.
    pub(crate) fn rehearse<T>(
        &self,
        organization: OrganizationId,
        work: impl FnOnce(&mut Act<'_, '_>) -> Result<T, AppError>,
    ) -> Result<T, Failure> {
        let ended: Result<(), Rehearsal<T>> = self.app.exclusive(self.who, |whole| {
            whole.act(organization, |act| Err(Rehearsal::Done(work(act)?)))
        });
        match ended {
            Err(Rehearsal::Done(done)) => Ok(done),
            Err(Rehearsal::Failed(error)) => Err(error.into()),
            Ok(()) => Err(Failure::new("the rehearsal was not rolled back".into())),
        }
    }

    /// The name of an organization, for what is told.
    pub(crate) fn name_of(&self, organization: OrganizationId) -> Result<String, Failure> {
        self.view(organization, move |view| {
            let names = names::of_organizations(view, &[organization])?;
            Ok(names.told(Some(organization)))
        })
    }
}
