package pick

// isPrime is by trial division: table sizes are a few million at most.
func isPrime(n int) bool {
	if n < 2 {
		return false
	}
	for d := 2; d*d <= n; d++ {
		if n%d == 0 {
			return false
		}
	}
	return true
}

// primeNear returns the first prime at or above n.
func primeNear(n int) int {
	for n = max(n, 2); !isPrime(n); n++ {
	}
	return n
}
