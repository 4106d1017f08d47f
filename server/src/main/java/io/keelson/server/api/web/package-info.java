/**
 * The dashboard's files: a page, its modules, its styles. They are public and the same for everyone; all data comes to
 * the page by the HTTP API.
 *
 * <p>Pitfalls: the content security policy contains the hash of the import map, so the page and its headers belong
 * together. A module is asked for under its hashed name only by the import map: a new folder below {@code web} needs
 * nothing, a new module of Lit a line in {@link io.keelson.server.api.web.LitModules}.
 */
@NullMarked
package io.keelson.server.api.web;

import org.jspecify.annotations.NullMarked;
