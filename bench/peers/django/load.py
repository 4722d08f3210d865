"""Fills a new database: load.py BUNDLE TOKENS, where TOKENS is a JSON object of organizations by token."""

import hashlib
import json
import sys

import django

django.setup()

from django.core.management import call_command
from django.db import transaction
from service.models import Group, Member, Organization, Token

BATCH = 2_000


def main(bundle, tokens):
    call_command("migrate", run_syncdb=True, verbosity=0)
    with transaction.atomic(), open(bundle, encoding="utf-8") as lines:
        members = []
        for line in lines:
            record = json.loads(line)
            match record["type"]:
                case "organization":
                    Organization.objects.create(id=record["id"])
                case "group":
                    Group.objects.create(
                        id=record["id"], organization_id=record["organizationId"], name=record["name"]
                    )
                case "member":
                    members.append(record)
            if len(members) == BATCH:
                store(members)
                members = []
        store(members)
        with open(tokens, encoding="utf-8") as file:
            for token, organization in json.load(file).items():
                Token.objects.create(
                    hash=hashlib.sha256(token.encode()).hexdigest(), organization_id=organization
                )


def store(members):
    Member.objects.bulk_create(
        Member(
            id=each["id"],
            organization_id=each["organizationId"],
            first_name=each["firstName"],
            last_name=each["lastName"],
            email=each["email"],
            is_active=each["isActive"],
            join_date=each["joinDate"],
            created_at=each["createdAt"],
        )
        for each in members
    )
    membership = Member.groups.through
    membership.objects.bulk_create(
        membership(member_id=each["id"], group_id=group) for each in members for group in each["groups"]
    )


main(*sys.argv[1:])
