package dnshook

import (
	"slices"
	"strconv"
	"strings"
)

// numbersOf is how many numbers stand before the host in rdata.
func numbersOf(kind string) int { return map[string]int{"MX": 1, "SRV": 3}[strings.ToUpper(kind)] }

// InRDATA returns an MX or SRV record with its numbers in front of each value, such as "10 mail.example.com", instead
// of in its metadata, as some servers want it. Other records stay as they are.
func (r Record) InRDATA() Record {
	if r.Metadata == nil || numbersOf(r.Type) == 0 {
		return r
	}
	var numbers strings.Builder
	for _, n := range []*uint16{r.Metadata.Priority, r.Metadata.Weight, r.Metadata.Port} {
		if n != nil {
			numbers.WriteString(strconv.Itoa(int(*n)) + " ")
		}
	}
	r.Metadata, r.Values = nil, slices.Clone(r.Values)
	for i, host := range r.Values {
		r.Values[i] = numbers.String() + host
	}
	return r
}

// fromRDATA takes the numbers out of values again. What InRDATA does not make stays as it is: no metadata can say it.
func (r Record) fromRDATA() Record {
	n := numbersOf(r.Type)
	if r.Metadata != nil || n == 0 || len(r.Values) == 0 {
		return r
	}
	var common []string
	hosts := make([]string, len(r.Values))
	for i, value := range r.Values {
		fields := strings.Fields(value)
		if len(fields) != n+1 || i > 0 && !slices.Equal(fields[:n], common) {
			return r
		}
		common, hosts[i] = fields[:n], fields[n]
	}
	var numbers [3]*uint16
	for i, text := range common {
		v, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return r
		}
		numbers[i] = new(uint16(v))
	}
	r.Values, r.Metadata = hosts, &Metadata{Priority: numbers[0], Weight: numbers[1], Port: numbers[2]}
	return r
}
