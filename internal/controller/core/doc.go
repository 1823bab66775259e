// Package core keeps the World up to date. Dialects put their objects into the Core, whose one goroutine settles what
// has gathered and hands on the delta. It answers what would come of an object that is not stored yet (Foresight),
// tells when an object that was put is decided about (Watch), and begins the spans of changes (Follower).
package core
