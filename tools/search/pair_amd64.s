#include "textflag.h"

// func pairAVX2(p *byte, n, off int, want1, want2, mask1, mask2 byte) int
TEXT ·pairAVX2(SB), NOSPLIT, $0-40
	MOVQ         p+0(FP), SI
	MOVQ         n+8(FP), CX
	MOVQ         off+16(FP), DX
	VPBROADCASTB want1+24(FP), Y0
	VPBROADCASTB want2+25(FP), Y1
	VPBROADCASTB mask1+26(FP), Y2
	VPBROADCASTB mask2+27(FP), Y3
	ADDQ         SI, DX
	XORQ         AX, AX
	SUBQ         $64, CX
	JLT          none

loop:
	VPOR      (SI)(AX*1), Y2, Y4
	VPOR      (DX)(AX*1), Y3, Y5
	VPOR      32(SI)(AX*1), Y2, Y6
	VPOR      32(DX)(AX*1), Y3, Y7
	VPCMPEQB  Y0, Y4, Y4
	VPCMPEQB  Y1, Y5, Y5
	VPCMPEQB  Y0, Y6, Y6
	VPCMPEQB  Y1, Y7, Y7
	VPAND     Y4, Y5, Y4
	VPAND     Y6, Y7, Y6
	VPOR      Y4, Y6, Y8
	VPTEST    Y8, Y8
	JNZ       found
	ADDQ      $64, AX
	CMPQ      AX, CX
	JLE       loop

none:
	NOTQ AX
	MOVQ AX, ret+32(FP)
	VZEROUPPER
	RET

found:
	VPMOVMSKB Y4, BX
	TESTL     BX, BX
	JNZ       first
	VPMOVMSKB Y6, BX
	ADDQ      $32, AX

first:
	BSFL BX, BX
	ADDQ BX, AX
	MOVQ AX, ret+32(FP)
	VZEROUPPER
	RET
