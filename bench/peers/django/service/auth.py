"""Who asks."""

import hashlib

from rest_framework import authentication, exceptions, permissions

from .models import Token


class BearerToken(authentication.BaseAuthentication):
    def authenticate(self, request):
        scheme, _, text = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
        if scheme != "Bearer":
            return None
        token = Token.objects.filter(hash=hashlib.sha256(text.encode()).hexdigest()).first()
        if token is None:
            raise exceptions.AuthenticationFailed("unknown token")
        return None, token

    def authenticate_header(self, request):
        return "Bearer"


class HasToken(permissions.BasePermission):
    def has_permission(self, request, view):
        return request.auth is not None
