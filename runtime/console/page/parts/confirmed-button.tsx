import { useState } from 'react'

export interface ConfirmedButtonProps {
  readonly text: string
  /** The object of the action; it is part of the button's accessible name. */
  readonly target: string
  readonly act: () => Promise<void>
}

/** A button for an irreversible action: it asks for confirmation. */
export function ConfirmedButton({ text, target, act }: ConfirmedButtonProps) {
  const [isAsking, setAsking] = useState(false)
  if (!isAsking) {
    return (
      <button type="button" aria-label={`${text} ${target}`} onClick={() => setAsking(true)}>
        {text}
      </button>
    )
  }
  const actOnce = (): void => {
    setAsking(false)
    void act()
  }
  return (
    <>
      <button type="button" aria-label={`${text} ${target} for good`} onClick={actOnce}>
        {text} for good
      </button>
      <button type="button" onClick={() => setAsking(false)}>
        Keep
      </button>
    </>
  )
}
