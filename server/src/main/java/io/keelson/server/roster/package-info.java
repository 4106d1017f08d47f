/** The agents of a workspace, their permissions and capabilities. */
@NullMarked
package io.keelson.server.roster;

import org.jspecify.annotations.NullMarked;
