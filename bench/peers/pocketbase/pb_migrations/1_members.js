// Members and groups with what the benchmark writes, and a user who may write them. A member's id is its number.
migrate((app) => {
  const signedIn = '@request.auth.id != ""';
  const changed = { name: "updated", type: "autodate", onCreate: true, onUpdate: true };

  app.save(
    new Collection({
      type: "base",
      name: "members",
      updateRule: signedIn,
      fields: [
        { name: "firstName", type: "text", required: true },
        { name: "lastName", type: "text", required: true },
        { name: "email", type: "email" },
        { name: "isActive", type: "bool" },
        { name: "joinDate", type: "text" },
        changed,
      ],
    }),
  );
  app.save(
    new Collection({
      type: "base",
      name: "groups",
      createRule: signedIn,
      fields: [{ name: "name", type: "text", required: true }, changed],
    }),
  );

  const user = new Record(app.findCollectionByNameOrId("users"));
  user.setEmail("officer@example.org");
  user.setPassword("a-long-password");
  app.save(user);

  app
    .db()
    .newQuery(
      `INSERT INTO members (id, firstName, lastName, email, isActive, joinDate, updated)
       WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 19999)
       SELECT printf('%015d', n), 'Name', 'Surname ' || n, 'member' || n || '@example.org', TRUE, '2020-01-01',
              '2026-01-01 00:00:00.000Z'
       FROM numbers`,
    )
    .execute();
});
