"""Members in groups, of organizations that tokens stand for."""

import uuid

from django.db import models
from django.utils import timezone


def new_group_id():
    return f"grp_{uuid.uuid4().hex}"


class Organization(models.Model):
    id = models.CharField(primary_key=True, max_length=40)


class Token(models.Model):
    """A token's SHA-256, never the token."""

    hash = models.CharField(primary_key=True, max_length=64)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE)


class Group(models.Model):
    id = models.CharField(primary_key=True, max_length=40, default=new_group_id)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE)
    name = models.CharField(max_length=200)
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(auto_now=True)


class Member(models.Model):
    id = models.CharField(primary_key=True, max_length=40)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, db_index=False)
    first_name = models.CharField(max_length=100)
    last_name = models.CharField(max_length=100)
    email = models.EmailField()
    is_active = models.BooleanField()
    join_date = models.DateField()
    groups = models.ManyToManyField(Group)
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [models.Index(fields=["organization", "id"])]
