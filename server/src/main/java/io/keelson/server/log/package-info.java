/** Context of log entries. */
@NullMarked
package io.keelson.server.log;

import org.jspecify.annotations.NullMarked;
