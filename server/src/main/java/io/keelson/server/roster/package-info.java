/** The agents of a workspace: who there is, what each may and can do. */
@NullMarked
package io.keelson.server.roster;

import org.jspecify.annotations.NullMarked;
