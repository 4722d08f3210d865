from django.urls import path

from . import api

urlpatterns = [
    path("v1/members", api.Members.as_view()),
    path("v1/members/<str:pk>", api.OneMember.as_view()),
    path("v1/groups", api.Groups.as_view()),
]
