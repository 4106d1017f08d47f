/** Write-only values that plans name: encrypted in the database, opened at execution, kept out of all records. */
@NullMarked
package io.keelson.server.tenant.secret;

import org.jspecify.annotations.NullMarked;
