/**
 * Servers for the tests of users: in process, on the embedded database, with a clock that a test moves and faults that it
 * names. Nothing in another package of the server uses this one, so other servers have none of its routes.
 */
@NullMarked
package io.keelson.server.testing;

import org.jspecify.annotations.NullMarked;
