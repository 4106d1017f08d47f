/** Commands that change the world outside: written down first, then handed to an adapter, and never to it twice. */
@NullMarked
package io.keelson.server.execution;

import org.jspecify.annotations.NullMarked;
