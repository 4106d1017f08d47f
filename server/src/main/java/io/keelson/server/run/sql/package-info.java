/** The toolkit of {@code server.run}: set-wise statements, binary parameters, columns and JSON rows. */
@NullMarked
package io.keelson.server.run.sql;

import org.jspecify.annotations.NullMarked;
