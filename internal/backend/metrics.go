package backend

import "time"

// Metrics is told what the engine does. Kind is Attachment.Kind; the class is "" for success. Methods must not block.
type Metrics interface {
	Applied(kind string, changes int, took time.Duration, class ErrorClass) // one Backend.Apply
	Read(kind string, sets int, took time.Duration, class ErrorClass)       // one Backend.Read
	Refused(kind string, sets int)                                          // sets refused, by the server or by its limits
	Raised(class ErrorClass)                                                // one CeilingStore.Raise
	Held(kind string, more int)                                             // so many more sets are held by a brake
}

// noMetrics is for an engine that nobody watches.
type noMetrics struct{}

func (noMetrics) Applied(string, int, time.Duration, ErrorClass) {}
func (noMetrics) Read(string, int, time.Duration, ErrorClass)    {}
func (noMetrics) Refused(string, int)                            {}
func (noMetrics) Raised(ErrorClass)                              {}
func (noMetrics) Held(string, int)                               {}
