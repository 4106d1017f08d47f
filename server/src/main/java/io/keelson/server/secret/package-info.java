/** Values that plans name and nobody reads again: sealed in the database, opened at execution, kept out of all records. */
@NullMarked
package io.keelson.server.secret;

import org.jspecify.annotations.NullMarked;
