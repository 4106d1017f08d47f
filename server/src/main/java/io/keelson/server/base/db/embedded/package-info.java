/** PostgreSQL started by the server itself, for machines without one: same database, same durability. */
@NullMarked
package io.keelson.server.base.db.embedded;

import org.jspecify.annotations.NullMarked;
