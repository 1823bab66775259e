// Package sources follows Services, Ingresses, routes and others that ask for names. It puts what they ask for into the
// Core of kubi.zone, as claims of their namespaces. What they mean is in internal/dialect/sources. They have no status
// of ours: events tell why a name is not served.
package sources
