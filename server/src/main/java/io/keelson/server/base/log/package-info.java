/** Context of log entries. */
@NullMarked
package io.keelson.server.base.log;

import org.jspecify.annotations.NullMarked;
