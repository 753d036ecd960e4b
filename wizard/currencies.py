"""The currencies that amounts can be typed and shown in: codes of ISO 4217 that are in use as money.

Source: ISO 4217, by the package iso-codes 4.15.0 of Debian; without funds, metals and codes for tests, and with the two that came in
since: XCG for ANG, ZWG for ZWL.
"""

from __future__ import annotations

_IN_USE = (
    "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP CNY COP "
    "CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD "
    "IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR "
    "MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP "
    "SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XCG XOF "
    "XPF YER ZAR ZMW ZWG"
)
CODES = frozenset(_IN_USE.split())
MOST_USED = ("USD", "EUR", "JPY", "GBP", "CNY", "AUD", "CAD", "CHF", "HKD", "SGD")
"""The ten that are traded most [BIS, Triennial Central Bank Survey 2022]: a wrong code is likeliest meant as one of them."""
