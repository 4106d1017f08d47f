/** PostgreSQL started by the server itself, for machines without one: same database, same durability. */
@NullMarked
package io.keelson.server.db.embedded;

import org.jspecify.annotations.NullMarked;
