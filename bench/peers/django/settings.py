"""A Django REST Framework service as one would put it into production, on SQLite."""

import os

ALLOWED_HOSTS = ["127.0.0.1"]
APPEND_SLASH = False
DEBUG = False
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
INSTALLED_APPS = ["rest_framework", "service"]
# It sets Content-Length.
MIDDLEWARE = ["django.middleware.common.CommonMiddleware"]
ROOT_URLCONF = "service.urls"
# Nothing here signs anything, but Django does not start without one.
SECRET_KEY = "bench"
TIME_ZONE = "UTC"
USE_TZ = True

DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": os.environ["PEER_DATABASE"],
        "CONN_MAX_AGE": None,
        "OPTIONS": {
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
        },
    }
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["service.auth.BearerToken"],
    "DEFAULT_PERMISSION_CLASSES": ["service.auth.HasToken"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "UNAUTHENTICATED_USER": None,
}
