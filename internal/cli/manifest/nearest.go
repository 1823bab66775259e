package manifest

// meant returns the kind that somebody is likely to have meant by an apiVersion and a kind that nobody knows.
func meant(apiVersion, name string) (kindKey, bool) {
	var best kindKey
	least := maxSlips + 1
	for _, k := range kinds {
		if n := slips(apiVersion, k.apiVersion) + slips(name, k.name); n < least {
			best, least = k.kindKey, n
		}
	}
	return best, least <= maxSlips && best.name != Namespace
}

// maxSlips is how many letters somebody may have got wrong.
const maxSlips = 2

// slips returns how many letters have to be put in, left out or replaced to make one word of another, up to maxSlips+1.
func slips(a, b string) int {
	if len(a)-len(b) > maxSlips || len(b)-len(a) > maxSlips {
		return maxSlips + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return min(row[len(b)], maxSlips+1)
}
