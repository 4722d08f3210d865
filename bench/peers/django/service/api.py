"""What is answered."""

from rest_framework import generics, pagination, serializers

from .models import Group, Member


class MemberSerializer(serializers.ModelSerializer):
    firstName = serializers.CharField(source="first_name", max_length=100)
    lastName = serializers.CharField(source="last_name", max_length=100)
    isActive = serializers.BooleanField(source="is_active")
    joinDate = serializers.DateField(source="join_date")
    groups = serializers.PrimaryKeyRelatedField(many=True, read_only=True)
    createdAt = serializers.DateTimeField(source="created_at", read_only=True)
    updatedAt = serializers.DateTimeField(source="updated_at", read_only=True)

    class Meta:
        model = Member
        fields = [
            "id", "firstName", "lastName", "email", "isActive", "joinDate", "groups", "createdAt", "updatedAt",
        ]
        read_only_fields = ["id"]


class GroupSerializer(serializers.ModelSerializer):
    createdAt = serializers.DateTimeField(source="created_at", read_only=True)
    updatedAt = serializers.DateTimeField(source="updated_at", read_only=True)

    class Meta:
        model = Group
        fields = ["id", "name", "createdAt", "updatedAt"]
        read_only_fields = ["id"]


class ById(pagination.CursorPagination):
    ordering = "id"
    page_size = 50
    page_size_query_param = "limit"
    max_page_size = 200


class OwnMembers:
    serializer_class = MemberSerializer

    def get_queryset(self):
        own = Member.objects.filter(organization=self.request.auth.organization_id)
        return own.prefetch_related("groups")


class Members(OwnMembers, generics.ListAPIView):
    pagination_class = ById


class OneMember(OwnMembers, generics.RetrieveUpdateAPIView):
    pass


class Groups(generics.CreateAPIView):
    serializer_class = GroupSerializer

    def perform_create(self, serializer):
        serializer.save(organization_id=self.request.auth.organization_id)
