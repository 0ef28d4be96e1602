/* Go's runtime takes its random bytes from ProcessPrng of this library, which Windows has
 * since version 10 and Wine 8 has not. It stands in for it there, and is no part of what
 * we ship. */
#include <windows.h>

/* RtlGenRandom, by the only name that it is exported under. */
BOOLEAN WINAPI SystemFunction036(PVOID buffer, ULONG size);

__declspec(dllexport) BOOL WINAPI ProcessPrng(BYTE *buffer, SIZE_T size) {
	return SystemFunction036(buffer, (ULONG)size);
}
