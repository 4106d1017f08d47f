/** The agents of a workspace, their permissions and capabilities. */
@NullMarked
package io.keelson.server.mission.roster;

import org.jspecify.annotations.NullMarked;
