package page

import "minilb/core/sim"

// Pack lays the series of all results out in one array of numbers, which crosses from the worker to the page in one
// move and is cut there without copying. Its layout, all numbers float64:
//
//	policies, backends
//	then for each policy:
//	  windows, seconds per window
//	  start[windows] in seconds, p50[…] p95[…] p99[…] in ms, answered[…], errors[…], dropped[…], attempts[…]
//	  kinds[…] for each of sim.KindNames: requests that went wrong in that way
//	  stacked[…] for each backend: its share and that of all backends before it, 0 to 1
//	  inFlight[…] for each backend: mean requests in flight
//	  failed[…] for each backend: attempts that ended badly
//
// NaN stands for a window in which there was nothing to measure.
func Pack(results []sim.Result, backends int) []float64 {
	out := make([]float64, 0, packedSize(results, backends))
	out = append(out, float64(len(results)), float64(backends))
	for _, r := range results {
		out = packSeries(out, r.Series)
	}
	return out
}

// columnsBeforeBackends are start, three percentiles, four counts and the kinds of failure.
const columnsBeforeBackends = 8 + len(sim.KindNames)

func packedSize(results []sim.Result, backends int) int {
	size := 2
	for _, r := range results {
		size += 2 + len(r.Series.Start)*(columnsBeforeBackends+3*backends)
	}
	return size
}

func packSeries(out []float64, s sim.Series) []float64 {
	out = append(out, float64(len(s.Start)), s.Resolution.Seconds())
	out = append(out, s.Start...)
	out = append(out, s.P50...)
	out = append(out, s.P95...)
	out = append(out, s.P99...)
	out = appendInts(out, s.Answered)
	out = appendInts(out, s.Errors)
	out = appendInts(out, s.Dropped)
	out = appendInts(out, s.Attempts)
	for _, row := range s.Kinds {
		out = appendInts(out, row)
	}
	out = appendStacked(out, s.Share)
	for _, row := range s.InFlight {
		out = append(out, row...)
	}
	for _, row := range s.Failed {
		out = appendInts(out, row)
	}
	return out
}

func appendInts(out []float64, list []int) []float64 {
	for _, v := range list {
		out = append(out, float64(v))
	}
	return out
}

// appendStacked adds the shares up from backend to backend, so that the chart only draws.
func appendStacked(out []float64, share [][]float64) []float64 {
	for i, row := range share {
		for _, v := range row {
			if i > 0 {
				v += out[len(out)-len(row)] // the same window of the backend before
			}
			out = append(out, v)
		}
	}
	return out
}
