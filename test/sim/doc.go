// Package sim is a world to run operators in: an API server in this process, name servers that outlive operators, and
// faults between any two effects. All of it waits by timers and channels alone, so that in a testing/synctest bubble
// time is virtual and a year is a moment.
package sim
