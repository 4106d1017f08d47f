/** The toolkit of {@code server.engine.store}: set-wise statements, binary parameters, columns and JSON rows. */
@NullMarked
package io.keelson.server.engine.store.sql;

import org.jspecify.annotations.NullMarked;
