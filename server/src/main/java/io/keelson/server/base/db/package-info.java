/** The database: its address, connections and schema. Depends on no other package. */
@NullMarked
package io.keelson.server.base.db;

import org.jspecify.annotations.NullMarked;
